/** Formats figures for people: short, with their unit, and a dash if nothing is known. */
const DASH = '–';

export function count(value: number): string {
  if (!Number.isFinite(value)) return DASH;
  if (Math.abs(value) >= 1e6) return `${significant(value / 1e6)} M`;
  if (Math.abs(value) >= 1e4) return `${significant(value / 1e3)} k`;
  return Math.round(value).toLocaleString('en');
}

export function rate(value: number): string {
  if (!Number.isFinite(value)) return DASH;
  return `${value < 10 && value > 0 ? value.toFixed(1) : count(value)}/s`;
}

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return DASH;
  if (seconds < 1) return `${significant(seconds * 1000)} ms`;
  if (seconds < 120) return `${significant(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

export function bytes(value: number): string {
  if (!Number.isFinite(value)) return DASH;
  if (value < 1024) return `${value} B`;
  if (value < 1 << 20) return `${significant(value / 1024)} KB`;
  return `${Math.round(value / (1 << 20))} MB`;
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return DASH;
  const value = share * 100;
  return `${value === 0 ? '0' : value < 0.1 ? value.toFixed(2) : value.toFixed(1)} %`;
}

/** A share of several that add up to 100 %: whole percents are enough. */
export function share(value: number): string {
  return Number.isFinite(value) ? `${Math.round(value * 100)} %` : DASH;
}

export function decimal(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : DASH;
}

export function costOfLag(lag: number, loss: number): string {
  if (!Number.isFinite(lag)) return 'The lag is not measured at the moment.';
  if (lag < 1) return 'Up to date: every rating produced has been applied.';
  const behind = `${count(lag)} ${lag < 2 ? 'rating' : 'ratings'} behind`;
  if (!Number.isFinite(loss)) return `${behind}; what that costs is not known.`;
  return `${behind}: costs about ${percent(loss)} of AUC now.`;
}

function significant(value: number): string {
  const size = Math.abs(value);
  return value
    .toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}
