"""Small general word lists: function words, words that narrow or blur a claim, words for kinds of value."""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


FUNCTION = listed(
    "a an the this that these those it its it's he she they them his her their theirs him we our us you your yours i "
    "my me who whom whose which what when where why how there here and or but nor so yet if then than as at by for "
    "from in into of off on onto out over per to up down with within without about above across after against along "
    "among around before behind below beneath beside between beyond during inside near outside since through "
    "throughout till toward towards under until upon via is are was were be been being am has have had having do does "
    "did done doing will would shall should can could may might must not no yes also too very just only both either "
    "neither each every all any some such same other another more most less least few many much own again further "
    "once while because although though however therefore thus hence ok okay please s t re ve ll d m"
)
"""Words that carry no content of their own."""

BLURS = listed(
    "about around approximately approx roughly nearly almost over under above below exceeding least most "
    "between up down more less fewer than within close circa estimated some maximum minimum max min limit sub"
)
"""Words near a number that make it a bound or an estimate."""

NARROWS = listed(
    "average averaging averaged averages mean median combined combining combine total totals season career "
    "straight row streak half halves quarter quarters period periods overtime month "
    "months week weeks weekly monthly year years yearly daily per each apiece piece together span stretch "
    "remaining left difference increase decrease since during ago until"
)
"""Words in a clause that make its numbers speak of a part, a sum or another time than the linked field."""

RELATES = listed("win victory loss margin lead deficit difference gap run advantage shy away more less fewer")
"""Words that, right after a number, make it a relation between two values."""

DENIES = listed(
    "not no never none neither nor without n't cannot can't couldn't didn't doesn't don't isn't wasn't "
    "aren't weren't won't wouldn't hasn't haven't hadn't unable"
)
"""Words that turn a statement round."""

SUPPOSES = listed(
    "would could should might may if whether unless can will shall we'll i'll you'll it'll they'll i'd we'd you'd"
)
"""Words that make a statement a supposition or an offer."""

FORECASTS = listed("will shall it'll")
"""Those of them that tell what is to come: a number told so is told all the same."""

MONEY = listed(
    "price prices cost costs amount amounts fee fees fare fares total subtotal balance refund payment payments paid "
    "charge charges cents cent usd eur gbp dollars dollar budget salary revenue income tax tip discount due value "
    "spend spent deposit credit debit worth rate"
)
"""Parts of field names that hold money."""

PERCENT = listed("percent percentage pct rate ratio share probability prob pop humidity")
"""Parts of field names that may hold a share."""

PER_HUNDRED = listed("percent percentage pct")
"""Those of them that say so."""

MINOR = listed("cents cent pence minor")
"""Parts of field names that count hundredths of the unit of a currency."""

PARTS = (("made", "attempted"), ("win", "loss"), ("home", "away"), ("low", "high"), ("min", "max"))
"""Field names that are told as a pair: `7 of 9`, `32-18`."""

STATUS_FIELDS = listed("status state condition availability stage phase outcome")
"""Field names that hold a status."""

STATUSES = listed(
    "cancelled canceled refunded shipped delivered pending processing processed confirmed failed succeeded completed "
    "active inactive open closed approved rejected declined available unavailable paid unpaid returned booked delayed "
    "scheduled expired enabled disabled suspended archived draft published queued running stopped blocked resolved "
    "verified unverified landed departed boarding missing deleted"
)
"""Words that state how a thing stands."""

AUXILIARIES = listed(
    "is are was were been be being has have had got get now already successfully fully completely still currently just "
    "i i've we we've it's that's been's not n't never"
)
"""Words that make the participle after them a statement."""

TOTALS = listed("total totals totaling sum altogether combined overall")
LEAST = listed("lowest cheapest minimum min least smallest earliest fewest shortest low")
MOST = listed("highest maximum max most largest latest greatest peak peaked peaking longest high biggest")
"""Words that announce a derived value."""

NEUTRAL = listed(
    "following detail details information info result results overview summary below listed list find found show shows "
    "shown see currently value values equal equals amounts come comes stand stands "
    "id number code class type method name range ranges ranging"
)
"""Content words that assert nothing beside a claim."""

GENERIC = listed(
    "amount value total number count data id name type date time quantity info result status items list min max avg "
    "mean sum"
)
"""Parts of field names that name nothing by themselves."""

UNITS = listed(
    "degree degrees celsius fahrenheit kelvin meter meters metre metres kilometer kilometers kilometre kilometres "
    "c f k m s x h mile miles inch inches foot feet hpa mph kph kmh knots "
    "millimeter millimeters centimeter centimeters kg km cm mm"
)
"""Words that are units: they stand by a number and name no field."""

YEAR = listed("year years season yr")
"""Parts of field names that hold a year."""

CHANGES = listed(
    "exchange exchanged exchanging swap swapped swapping change changed changing replace replaced replacing switch "
    "switched switching modify modified modifying update updated updating upgrade upgraded upgrading downgrade "
    "downgraded downgrading instead"
)
"""Words that make a sentence tell of two states of one thing."""

CODES = listed("id ids code key sku ref reference number no")
"""Last parts of field names that hold codes."""
