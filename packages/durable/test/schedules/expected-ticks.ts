const minute = 60_000
const nicknames: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
}

/** A local time as if it were UTC, in milliseconds. */
type Local = number

/**
 * Returns the ticks after `from` up to `to` as docs/guide/durable/schedules.md describes them, minute by minute and without a cron library. Fixed
 * times run once a day: the first of two equal local times, or the end of the gap for one that does not exist. Intervals run whenever the
 * local time matches.
 */
export function expectedTicks(cron: string, tz: string, from: number, to: number): number[] {
  const pattern = nicknames[cron] ?? cron
  const [minutes = '', hours = ''] = pattern.split(' ')
  const isInterval = /[*/]/.test(minutes + hours)
  const matches = matcher(pattern)
  const localOf = localTimes(tz)
  const found = new Set<number>()
  let latest: Local = localOf(from - 86_400_000)
  for (let at = from - 86_400_000 + minute; at <= to; at += minute) {
    const local = localOf(at)
    if (isInterval ? matches(local) : anyMinute(latest, local, matches)) found.add(at)
    latest = Math.max(latest, local)
  }
  return [...found].filter((at) => at > from)
}

/** Whether a minute after `latest` and up to `local` matches. There are several at the end of a gap, and none in a repeated hour. */
function anyMinute(latest: Local, local: Local, matches: (local: Local) => boolean): boolean {
  for (let at = latest + minute; at <= local; at += minute) if (matches(at)) return true
  return false
}

function matcher(pattern: string): (local: Local) => boolean {
  const [minutes, hours, days, months, weekdays] = pattern.split(' ').map(fieldOf)
  return (local) => {
    const date = new Date(local)
    return (
      minutes?.(date.getUTCMinutes(), 0) === true &&
      hours?.(date.getUTCHours(), 0) === true &&
      days?.(date.getUTCDate(), 1) === true &&
      months?.(date.getUTCMonth() + 1, 1) === true &&
      weekdays?.(date.getUTCDay(), 0) === true
    )
  }
}

function fieldOf(field: string): (value: number, first: number) => boolean {
  const parts = field.split(',').map((part) => {
    const [range = '', step] = part.split('/')
    const [low, high] = range === '*' ? [undefined, 99] : range.split('-').map(Number)
    const end = high ?? (step === undefined ? low : 99)
    return { low, high: end ?? 0, step: Number(step ?? 1) }
  })
  return (value, first) =>
    parts.some(({ low = first, high, step }) => value >= low && value <= high && (value - low) % step === 0)
}

const localTimesOf = new Map<string, Map<number, Local>>()

/** Formatting is slow, so each minute is formatted once. */
function localTimes(tz: string): (at: number) => Local {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short', timeStyle: 'short' })
  const known = localTimesOf.get(tz) ?? new Map<number, Local>()
  localTimesOf.set(tz, known)
  return (at) => {
    const local = known.get(at) ?? Date.parse(`${format.format(at).replace(' ', 'T')}Z`)
    known.set(at, local)
    return local
  }
}
