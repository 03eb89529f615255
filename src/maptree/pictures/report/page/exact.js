// Numbers and times as Python compares them: without rounding numbers that a float cannot hold.

// A decimal number as a multiple of 10^-scale; undefined if the text is not a number.
function readDecimal(text) {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (!match || !(match[2] || match[3])) return undefined;
  const [, sign, whole, fraction = "", exponent = "0"] = match;
  const size = BigInt(whole + fraction);
  return { size: sign === "-" ? -size : size, scale: fraction.length - Number(exponent) };
}

function decimalAtMost(a, b) {
  const scale = Math.max(a.scale, b.scale);
  const lift = (x) => x.size * 10n ** BigInt(scale - x.scale);
  return lift(a) <= lift(b);
}

// The input for a column of numbers. Whole numbers are exact, and so are all numbers in a column of
// decimals; others are floats, as in the table.
function readNumber(text, decimal) {
  const plain = text.replace("\u2212", "-");
  if (/^[+-]?inf(inity)?$/i.test(plain)) return { float: plain.startsWith("-") ? -Infinity : Infinity };
  const exact = readDecimal(plain);
  if (exact === undefined) return undefined;
  return decimal || /^[+-]?\d+$/.test(plain) ? { exact } : { float: Number(plain) };
}

function numberAtMost(value, threshold) {
  if (value.exact === undefined) return value.float <= Number(threshold.float);
  if (threshold.exact.endsWith("inf")) return threshold.exact === "inf";
  return decimalAtMost(value.exact, readDecimal(threshold.exact));
}

// Days since 1970-01-01.
function readDate(text) {
  const match = /^(\d{4,6})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return undefined;
  const [year, month, day] = match.slice(1).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 ? date.getTime() / 864e5 : undefined;
}

// The nanoseconds of 12:30, 12:30:15 or 12:30:15.5; in a duration, hours may exceed 23.
function readClock(text) {
  const match = /^(\d+):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/.exec(text);
  if (!match) return undefined;
  const [, hours, minutes, seconds = "0", fraction = ""] = match;
  if (Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const whole = (BigInt(hours) * 60n + BigInt(minutes)) * 60n + BigInt(seconds);
  return whole * 1000000000n + BigInt(fraction.padEnd(9, "0"));
}

const DAY = 86400000000000n;

function readDatetime(text) {
  const [date, clock] = text.split(/[T ]/);
  const days = readDate(date);
  const time = clock === undefined ? undefined : readClock(clock);
  return days === undefined || time === undefined ? undefined : BigInt(days) * DAY + time;
}

function readTime(text) {
  const time = readClock(text);
  return time === undefined || time >= DAY ? undefined : time;
}

function readDuration(text) {
  const match = /^(-?)(?:(\d+) ?d(?: |$))?(.*)$/.exec(text);
  const time = match[3] === "" && match[2] ? 0n : readClock(match[3]);
  if (time === undefined) return undefined;
  const size = BigInt(match[2] || 0) * DAY + time;
  return match[1] ? -size : size;
}

// Whether a test is true for a value. A missing value is null; only the test for it is true.
function answersYes(test, kind, value) {
  if (value === null || test.asks === "missing") return value === null && test.asks === "missing";
  if (test.asks === "equals") return value === test.value;
  if (value === test.other) return true;  // an unknown category, outside of a set
  if (kind === "number") return numberAtMost(value, test.value);
  return typeof value === "bigint" ? value <= BigInt(test.value) : value <= test.value;
}
