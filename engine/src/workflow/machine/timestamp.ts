/** Times: sums that stay countable, and text for people and outputs, without the machine's Date. */

/** Year, month and day of a day counted from 1970-01-01; algorithm civil_from_days of Howard Hinnant. */
function civilFromDays(days: number): readonly [number, number, number] {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day];
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}

/**
 * RFC 3339 in UTC with as many digits of the second as it needs: `2026-03-01T12:00:00.25Z`.
 *
 * @param us microseconds since 1970
 */
export function formatTimestampUs(us: number): string {
  const seconds = Math.floor(us / 1_000_000);
  const days = Math.floor(seconds / 86_400);
  const [year, month, day] = civilFromDays(days);
  const second = seconds - days * 86_400;
  const clock = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60];
  const fraction = padded(us - seconds * 1_000_000, 6).replace(/0+$/, '');
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  return `${date}T${clock.map((part) => padded(part, 2)).join(':')}${fraction === '' ? '' : `.${fraction}`}Z`;
}

/** A point in time that can be stored: whole microseconds from 1 up, rounded up (nothing ends early), at most 2^53. */
export function storableUs(us: number): number {
  // Written so that what is no number at all ends at 1.
  return us > 1 ? Math.min(Math.ceil(us), Number.MAX_SAFE_INTEGER) : 1;
}
