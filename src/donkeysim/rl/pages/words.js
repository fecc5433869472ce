// Figures as people write them.

/** Seconds as 3:07 or 1:02:07. */
export function sayTime(seconds) {
  const whole = Math.floor(Math.max(seconds, 0));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value) => String(value).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** A whole number with its thousands apart; nothing is a dash. */
export function sayCount(value, texts) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString(texts.code);
}
