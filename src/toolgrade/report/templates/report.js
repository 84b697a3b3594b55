"use strict";
// Everything recorded is set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const checks = data.checks.filter((name) => data.rows.some((row) => name in row.status));
const form = document.getElementById("filters");
const body = document.getElementById("rows");
const STEP = 100;
let route = "";
let limit = STEP;

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined && text !== null) made.textContent = text;
  return made;
}

function matches(row) {
  const want = Object.fromEntries(new FormData(form));
  if (want.check && want.status && row.status[want.check] !== want.status) return false;
  if (want.check && !want.status && !(want.check in row.status)) return false;
  if (!want.check && want.status && !Object.values(row.status).includes(want.status)) return false;
  if (want.finding && !row.findings.includes(want.finding)) return false;
  if (route && !row.routes.includes(route)) return false;
  const text = want.text.trim().toLowerCase();
  return !text || [row.id, row.case, ...row.tags].some((value) => value && value.toLowerCase().includes(text));
}

function render() {
  const found = [];
  data.rows.forEach((row, number) => { if (matches(row)) found.push(number); });
  body.replaceChildren(...found.slice(0, limit).map(line));
  document.getElementById("shown").textContent =
    `${found.length} of ${data.rows.length} traces` + (route ? `, expected > called: ${route}` : "");
  document.getElementById("more").hidden = found.length <= limit;
}

function line(number) {
  const row = data.rows[number];
  const made = element("tr");
  const name = element("td");
  const open = element("button", "link", row.id);
  open.type = "button";
  open.addEventListener("click", () => show(number));
  name.append(open);
  made.append(name, element("td", "", row.case === null ? "" : `${row.case} (${row.trial})`), element("td", row.whole, row.whole));
  for (const check of checks) made.append(element("td", row.status[check], row.status[check] || ""));
  made.append(element("td", "", row.findings.join(", ")));
  return made;
}

function findings(list) {
  return list.map((finding) => {
    const made = element("div", finding.counted ? "finding" : "finding kept", finding.text);
    made.append(element("div", "who", finding.advice));
    return made;
  });
}

function folded(text, open) {
  if (text.length <= 200) return element("pre", "", text);
  const made = element("details");
  made.open = Boolean(open);
  made.append(element("summary", "", text.slice(0, 120).replace(/\s+/g, " ") + " …"), element("pre", "", text));
  return made;
}

function message(told) {
  const made = element("div", `message ${told.role}`);
  made.append(element("span", "who", told.step ? `step ${told.step}` : told.role));
  if (told.text) made.append(told.role === "system" ? folded(told.text) : element("div", "", told.text));
  for (const call of told.calls || []) {
    const line = element("div", "call", `→ ${call.name}`);
    line.append(folded(call.arguments));
    made.append(line);
  }
  if (told.payload !== undefined) made.append(folded(told.payload || "(empty)"));
  made.append(...findings(told.findings || []));
  return made;
}

function show(number) {
  const told = data.transcripts[number];
  const place = document.getElementById("transcript");
  place.hidden = false;
  place.replaceChildren(element("h3", "", data.rows[number].id));
  if (!told) {
    place.append(element("p", "", "This transcript is not in the file; toolgrade show prints it."));
  } else {
    if (told.error) place.append(element("p", "bad", told.error));
    const list = element("ul");
    for (const check of told.checks) {
      const score = check.score === null ? "" : ` ${check.score.toFixed(2)}`;
      const basis = check.basis ? ` [${check.basis}]` : "";
      const open = check.open ? `, ${check.open} open questions` : "";
      const item = element("li", check.status, `${check.check}: ${check.status}${score}${basis}${check.reason ? `: ${check.reason}` : ""}${open}`);
      for (const verdict of check.verdicts) item.append(element("div", "who", verdict));
      list.append(item);
    }
    place.append(list, ...findings(told.findings), ...told.messages.map(message));
  }
  place.scrollIntoView({ block: "start" });
}

function followHash() {
  const found = location.hash.match(/^#route=(.*)$/);
  route = found ? decodeURIComponent(found[1]) : "";
  limit = STEP;
  render();
  if (found) document.getElementById("traces").scrollIntoView();
}

function choose(name, value) {
  form.reset();
  form.elements[name].value = value;
  if (name === "check") form.elements.status.value = "failed";
  route = "";
  limit = STEP;
  render();
  document.getElementById("traces").scrollIntoView();
}

form.addEventListener("input", () => { limit = STEP; render(); });
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("all").addEventListener("click", () => {
  form.reset();
  route = "";
  limit = STEP;
  history.replaceState(null, "", location.pathname + location.search);
  render();
});
document.getElementById("more").addEventListener("click", () => { limit += STEP; render(); });
document.addEventListener("click", (event) => {
  const { check, finding, row } = event.target.dataset || {};
  if (check) choose("check", check);
  if (finding) choose("finding", finding);
  if (row) show(Number(row));
});
addEventListener("hashchange", followHash);
followHash();
