import { expect, it } from 'vitest'
import { ticksOf } from '../../src/schedules/cron.ts'
import { dueTick } from '../../src/schedules/due-tick.ts'
import { expectedTicks } from './expected-ticks.ts'

const day = 86_400_000

/** Both changes of 2026 in zones whose gap is one hour, half an hour or at midnight; UTC and Kolkata have none. */
const zones: Readonly<Record<string, readonly string[]>> = {
  'Europe/Berlin': ['2026-03-29', '2026-10-25'],
  'America/New_York': ['2026-03-08', '2026-11-01'],
  'America/Santiago': ['2026-04-05', '2026-09-06'],
  'Australia/Lord_Howe': ['2026-04-05', '2026-10-04'],
  'Africa/Cairo': ['2026-04-24', '2026-10-30'],
  'Atlantic/Azores': ['2026-03-29', '2026-10-25'],
  UTC: ['2026-03-29'],
  'Asia/Kolkata': ['2026-10-25'],
}

const fixed = [
  ...['30 2 * * *', '0 2 * * *', '0 3 * * *', '59 1 * * *', '15 0 * * *', '0 0 * * *', '45 23 * * *', '10 12 * * *'],
  ...['30 2,14 * * *', '0,30 2 * * *', '0,30 0,1,2,3 * * *', '5,50 1-3 * * *', '0-3 2 * * *', '30 0-23 * * *'],
  ...['15 2 * * 0', '15,45 2 * * 0,6', '30 2 29 3 *', '30 1,2 25 10 *', '0 0,12 1-10 * *', '@daily', '@weekly'],
]
const intervals = [
  ...['0 * * * *', '*/15 * * * *', '*/30 2 * * *', '30 */2 * * *', '5-50/15 1-3 * * *', '0 1-23/3 * * *'],
  ...['*/7 2 * * *', '15,45 * * * 0', '@hourly'],
]
const cases = [...fixed, ...intervals].flatMap((cron) => Object.keys(zones).map((tz) => [cron, tz] as const))

it.each(cases)(
  '%s in %s has the ticks that the docs promise when the clocks change, in both directions',
  (cron, tz) => {
    const ticks = ticksOf(cron, tz)
    for (const date of zones[tz] ?? []) {
      const from = Date.parse(date) - day
      const to = from + 3 * day
      const expected = expectedTicks(cron, tz, from, to)
      const found: number[] = []
      for (let at = ticks.next(from); at !== undefined && at <= to; at = ticks.next(at)) found.push(at)
      expect(found.map(shown)).toEqual(expected.map(shown))
      if (expected.length > 0) expect(ticks.last(expected.length, to).map(shown)).toEqual(expected.map(shown))
    }
  },
)

it.each([
  ['30 2,14 * * *', '2026-03-28T12:00Z', ['03-28T13:30', '03-29T01:00', '03-29T12:30']],
  ['30 2,14 * * *', '2026-10-24T12:00Z', ['10-24T12:30', '10-25T00:30', '10-25T13:30']],
  ['0,30 2 * * *', '2026-10-24T12:00Z', ['10-25T00:00', '10-25T00:30']],
])('each tick of %s after %s becomes due once', (cron, start, expected) => {
  const ticks = ticksOf(cron, 'Europe/Berlin')
  const ran: string[] = []
  for (let nextAt = ticks.next(Date.parse(start)); ran.length < expected.length; ) {
    const due = dueTick(ticks, { nextAt: nextAt ?? 0, now: (nextAt ?? 0) + 500, missed: 'latest', grace: 60_000 })
    ran.push(shown(due.tick ?? 0).slice(5, 16))
    nextAt = due.nextAt
  }
  expect(ran).toEqual(expected)
})

function shown(at: number): string {
  return new Date(at).toISOString()
}
