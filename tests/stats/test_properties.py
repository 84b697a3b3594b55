"""Properties that hold for any labels: order, swapping raters, duplicates, one class, tiny samples."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from toolgrade.stats.agreement import agreement_weights, alpha_of_tables, correlation, gwet, kappa
from toolgrade.stats.bootstrap import Bootstrap
from toolgrade.stats.corrected import corrected_rate
from toolgrade.stats.correction import Judged, post_stratified, prediction_powered
from toolgrade.stats.judging import judge_agreement
from toolgrade.stats.paired import compare_judges, holm, mcnemar
from toolgrade.stats.pairs import pairs
from toolgrade.stats.raters import flip_rate, krippendorff_alpha, rating_array
from toolgrade.stats.views import views

WORD = st.sampled_from(["fail", "pass"])
SAID = st.lists(st.tuples(WORD, WORD), min_size=1, max_size=40)
CATEGORIES = ("fail", "pass")


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def agreement_of(said: list[tuple[str, str]]) -> dict[str, object]:
    return judge_agreement(pairs([h for h, _ in said], [j for _, j in said], CATEGORIES), rng())  # type: ignore[return-value]


@given(SAID, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_order_of_items_does_not_matter(said: list[tuple[str, str]], shuffle: object) -> None:
    mixed = list(said)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]
    assert agreement_of(said) == agreement_of(mixed)


@given(SAID)
@settings(max_examples=60)
def test_symmetric_statistics_do_not_change_when_raters_swap(said: list[tuple[str, str]]) -> None:
    there, back = agreement_of(said), agreement_of([(b, a) for a, b in said])
    for name in ("kappa", "ac1", "alpha", "mcc", "accuracy"):
        one, two = there[name].value, back[name].value  # type: ignore[attr-defined]
        assert one == pytest.approx(two, abs=1e-12) if one is not None else two is None
    precision, recall = there["fail_precision"].value, back["fail_recall"].value  # type: ignore[attr-defined]
    assert precision == recall


@given(SAID)
@settings(max_examples=60)
def test_every_statistic_has_a_value_or_a_reason_and_its_interval_holds_it(said: list[tuple[str, str]]) -> None:
    for name, estimate in agreement_of(said).items():
        assert (estimate.value is None) == (estimate.reason is not None), name  # type: ignore[attr-defined]
        interval = estimate.interval  # type: ignore[attr-defined]
        if interval is not None:
            assert interval.low <= interval.high
            assert interval.low >= -1.0
            assert interval.high <= 1.0 + 1e-9


@given(SAID)
@settings(max_examples=30)
def test_duplicated_traces_do_not_narrow_the_interval(said: list[tuple[str, str]]) -> None:
    """The same items again under the same trace carry no information: values and intervals stay."""
    human, judge = [h for h, _ in said], [j for _, j in said]
    once = pairs(human, judge, CATEGORIES, [str(i) for i in range(len(said))])
    twice = pairs(human * 2, judge * 2, CATEGORIES, [str(i) for i in range(len(said))] * 2)
    for name in ("kappa", "youden_j"):
        one, two = judge_agreement(once, rng())[name], judge_agreement(twice, rng())[name]
        if one.value is None:
            assert two.value is None
            continue
        assert one.value == pytest.approx(two.value)
        if one.interval is not None and one.interval.method == "bca":
            assert two.interval is not None
            assert [one.interval.low, one.interval.high] == pytest.approx([two.interval.low, two.interval.high])


@given(SAID)
@settings(max_examples=40)
def test_equal_weights_are_no_weights(said: list[tuple[str, str]]) -> None:
    human, judge = [h for h, _ in said], [j for _, j in said]
    plain = judge_agreement(pairs(human, judge, CATEGORIES), rng())
    assert judge_agreement(pairs(human, judge, CATEGORIES, weights=[4.0] * len(said)), rng()) == plain


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=40))
@settings(max_examples=60)
def test_against_sklearn_and_krippendorff(said: list[tuple[str, str]]) -> None:
    one, two = [a for a, _ in said], [b for _, b in said]
    assume(len({*one, *two}) > 1)
    table = pairs(one, two, "abc").total
    for weighting in ("identity", "linear", "quadratic"):
        ours = float(kappa(table, agreement_weights(3, weighting)))  # type: ignore[arg-type]
        theirs = cohen_kappa_score(one, two, labels=list("abc"), weights=None if weighting == "identity" else weighting)
        assert ours == pytest.approx(theirs, abs=1e-12)
    numbers = [["abc".index(x) for x in column] for column in (one, two)]
    for metric in ("nominal", "ordinal", "interval"):
        theirs = krippendorff.alpha(numbers, value_domain=[0, 1, 2], level_of_measurement=metric)
        assert float(alpha_of_tables(table, metric)) == pytest.approx(theirs, abs=1e-12)  # type: ignore[arg-type]


@given(st.lists(st.tuples(WORD, WORD), min_size=2, max_size=40))
@settings(max_examples=60)
def test_mcc_is_sklearns_where_it_is_defined_and_undefined_elsewhere(said: list[tuple[str, str]]) -> None:
    human, judge = [h for h, _ in said], [j for _, j in said]
    ours = float(correlation(pairs(human, judge, CATEGORIES).total))
    if len(set(human)) == len(set(judge)) == 2:
        assert ours == pytest.approx(matthews_corrcoef(human, judge), abs=1e-12)
    else:
        assert np.isnan(ours)


@pytest.mark.parametrize("word", ["fail", "pass"])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_one_class_leaves_kappa_undefined_and_never_one(word: str, n: int) -> None:
    found = agreement_of([(word, word)] * n)
    for name in ("kappa", "alpha", "mcc"):
        assert (found[name].value, found[name].reason) == (None, "single_class")  # type: ignore[attr-defined]
    assert found["youden_j"].reason == "missing_class"  # type: ignore[attr-defined]


def test_no_items_at_all() -> None:
    found = judge_agreement(pairs([], [], CATEGORIES), rng())
    assert {estimate.reason for estimate in found.values()} == {"no_items"}
    assert views([], []).coverage.reason == "no_items"


def test_one_declared_category_has_no_agreement() -> None:
    assert np.isnan(float(gwet(np.array([[5.0]]))))
    with pytest.raises(ValueError, match="not among the declared"):
        pairs(["a"], ["b"], ("a",))


def test_two_raters_alpha_equals_the_general_one() -> None:
    said = [("fail", "fail"), ("pass", "fail"), ("pass", "pass"), ("fail", "pass"), ("pass", "pass")]
    table = pairs([a for a, _ in said], [b for _, b in said], CATEGORIES).total
    general = krippendorff_alpha(rating_array(said, CATEGORIES), 2)
    assert general.value == pytest.approx(float(alpha_of_tables(table)))


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=60)
def test_mcnemar_is_fair_to_both_judges(right: int, worse: int, better: int, wrong: int) -> None:
    there, back = mcnemar(right, worse, better, wrong), mcnemar(right, better, worse, wrong)
    assert there.p == pytest.approx(back.p)
    assert 0 < there.p <= there.p_exact <= 1 or there.p == there.p_exact == 1
    assert (there.e_better, there.e_worse) == pytest.approx((back.e_worse, back.e_better))
    if there.difference.value is not None:
        assert there.difference.value == pytest.approx(-(back.difference.value or 0))


def test_a_judge_against_itself_is_not_inferior() -> None:
    human = ["fail", "pass", "pass", "fail"] * 20
    judge = ["fail", "pass", "fail", "fail"] * 20
    found = compare_judges(human, judge, judge, list(range(80)), rng())
    assert (found.kappa.value, found.discordance.p, found.superior) == (0.0, 1.0, False)
    assert found.kappa.interval is not None
    assert found.kappa.interval.low == pytest.approx(-found.kappa.interval.high)
    assert found.non_inferior is True
    few = compare_judges(human[:8], judge[:8], judge[:8], list(range(8)), rng())
    assert few.non_inferior is False, "eight items cannot show that nothing was lost"


def test_differences_of_shares_are_agresti_and_mins() -> None:
    """Vector mcnemar/b3_c17 as labels: 30 both right, 3 worse, 17 better, 12 both wrong."""
    human = ["fail"] * 62
    old = ["fail"] * 33 + ["pass"] * 29
    new = ["fail"] * 30 + ["pass"] * 3 + ["fail"] * 17 + ["pass"] * 12
    found = compare_judges(human, old, new, list(range(62)), rng())
    assert found.fail_recall.interval is not None
    limits = [found.fail_recall.interval.low, found.fail_recall.interval.high]
    assert limits == pytest.approx([0.08904728289935007, 0.34845271710064996])
    assert found.pass_recall.reason == "missing_class"


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20), st.integers(1, 20), st.integers(0, 100))
@settings(max_examples=60)
def test_corrections_of_a_random_sample_agree_when_the_sample_looks_like_the_rest(
    ff: int, fp: int, pf: int, pp: int, share: int
) -> None:
    """Where the judge passes as much of the rest as of the sample, both give the human rate (hand calculation)."""
    table = np.array([[ff, fp], [pf, pp]], dtype=float)
    judged = Judged(fp + pp, int(table.sum()))
    human = (pf + pp) / table.sum()
    assert post_stratified(judged, table).value == pytest.approx(human)
    assert prediction_powered(judged, table).estimate.value == pytest.approx(human)
    assert 0 <= (post_stratified(Judged(share, 100), table).value or 0) <= 1


def test_the_sampling_design_decides_the_estimator() -> None:
    table = np.array([[30.0, 10.0], [8.0, 52.0]])
    judged = Judged(620, 1000)
    chosen = {
        d: corrected_rate(judged, table, d).estimator for d in ("random", "verdict_stratified", "label_stratified")
    }  # type: ignore[arg-type]
    assert chosen == {
        "random": "ppi_plus_plus",
        "verdict_stratified": "post_stratified",
        "label_stratified": "rogan_gladen",
    }
    refused = corrected_rate(judged, table, "convenience")
    assert (refused.estimator, refused.corrected.reason) == (None, "design_forbids_correction")
    assert refused.raw.flags == ("uncorrected",)
    few = np.array([[30.0, 1.0], [1.0, 52.0]])
    assert corrected_rate(judged, few, "random").estimator == "post_stratified"
    outside = corrected_rate(Judged(4, 200), np.array([[32.0, 8.0], [3.0, 57.0]]), "label_stratified")
    assert outside.corrected.reason == "assumption_violation"
    useless = corrected_rate(judged, np.array([[20.0, 20.0], [30.0, 30.0]]), "label_stratified")
    assert useless.corrected.reason == "judge_at_or_below_chance"
    assert (
        corrected_rate(judged, np.array([[0.0, 0.0], [8.0, 52.0]]), "label_stratified").corrected.reason
        == "missing_class"
    )


def test_a_judge_that_adds_nothing_is_named() -> None:
    """A coin as judge: the corrected interval is no narrower than people's own."""
    found = corrected_rate(Judged(500, 1000), np.array([[15.0, 15.0], [35.0, 35.0]]), "random")
    assert found.label_equivalent is not None
    assert found.label_equivalent < 1.05 * found.human_only.n


def test_identical_replicates_never_flip_and_one_alone_says_nothing() -> None:
    assert flip_rate([["pass", "pass", "pass"]] * 5, CATEGORIES).value == 0.0
    assert flip_rate([["pass"]] * 5, CATEGORIES).reason == "fewer_than_two_replicates"
    assert flip_rate([], CATEGORIES).reason == "fewer_than_two_replicates"


def test_holm_rejects_stepwise() -> None:
    """Holm (1979) at 0.05 with four tests: 0.0125, 0.0167, 0.025, 0.05."""
    assert holm({"a": 0.01, "b": 0.02, "c": 0.016, "d": 0.2}) == {"a": True, "b": True, "c": True, "d": False}
    assert holm({"a": 0.013, "b": 0.001}) == {"a": True, "b": True}
    assert holm({"a": 0.04, "b": 0.03}) == {"a": False, "b": False}


def test_a_bootstrap_by_cluster_sees_the_clusters() -> None:
    """50 traces of four equal items: trace intervals are about twice as wide as item intervals."""
    source = np.random.default_rng(3)
    human = [word for word in source.choice(CATEGORIES, 50) for _ in range(4)]
    judge = [h if source.random() < 0.8 else "fail" for h in human[::4] for _ in range(1)]
    judge = [word for word in judge for _ in range(4)]
    traces = [i // 4 for i in range(200)]
    by_item = Bootstrap(pairs(human, judge, CATEGORIES).rows, rng())
    by_trace = Bootstrap(pairs(human, judge, CATEGORIES, traces).rows, rng())

    def of_kappa(rows: np.ndarray) -> np.ndarray:
        return kappa(rows.reshape(*rows.shape[:-1], 2, 2))

    narrow, wide = by_item.interval(of_kappa), by_trace.interval(of_kappa)
    assert narrow is not None
    assert wide is not None
    assert wide.width == pytest.approx(2 * narrow.width, rel=0.2)


def test_recalls_are_by_trace_too() -> None:
    """40 traces of four equal items, 32 of them right: as wide as 40 items, not as 160."""
    human = ["fail"] * 160 + ["pass"] * 4
    judge = ["fail"] * 128 + ["pass"] * 36
    traces = [i // 4 for i in range(164)]
    by_trace = judge_agreement(pairs(human, judge, CATEGORIES, traces), rng())["fail_recall"]
    forty = judge_agreement(pairs(human[::4], judge[::4], CATEGORIES), rng())["fail_recall"]
    assert by_trace.value == forty.value == 0.8
    assert by_trace.interval is not None
    assert forty.interval is not None
    assert by_trace.interval.width == pytest.approx(forty.interval.width, rel=0.1)


@given(st.lists(st.tuples(WORD, st.floats(1.0, 9.0)), min_size=5, max_size=40))
@settings(max_examples=40)
def test_a_perfect_judge_on_weighted_items_is_not_beyond_doubt(items: list[tuple[str, float]]) -> None:
    """Sums of weights differ in the last digits, which must not pass for the spread of a bootstrap."""
    words = [word for word, _ in items]
    assume(len(set(words)) == 2)
    found = judge_agreement(pairs(words, words, CATEGORIES, weights=[weight for _, weight in items]), rng())
    for name in ("kappa", "fail_recall", "pass_recall", "accuracy"):
        interval = found[name].interval
        assert found[name].value == pytest.approx(1)
        assert interval is not None
        assert interval.low < 0.95
