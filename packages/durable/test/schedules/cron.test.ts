import { expect, it } from 'vitest'
import { ticksOf } from '../../src/schedules/cron.ts'
import { dueTick } from '../../src/schedules/due-tick.ts'

/** The next ticks after a time, in UTC. */
function nextTicks(cron: string, tz: string, after: string, count: number): string[] {
  const ticks = ticksOf(cron, tz)
  const found: string[] = []
  for (let at = Date.parse(after); found.length < count; ) {
    at = ticks.next(at) ?? Number.NaN
    found.push(new Date(at).toISOString().slice(5, 16))
  }
  return found
}

const march = '2026-03-28T23:00:00Z'
const october = '2026-10-24T23:00:00Z'

it('runs at the end of the gap for a local time that does not exist', () => {
  expect(nextTicks('30 2 * * *', 'Europe/Berlin', march, 2)).toEqual(['03-29T01:00', '03-30T00:30'])
})

it('runs once for a local time that exists twice, at the first of the two', () => {
  expect(nextTicks('30 2 * * *', 'Europe/Berlin', october, 2)).toEqual(['10-25T00:30', '10-26T01:30'])
})

it('keeps its distance over a change of the clocks where the pattern is an interval', () => {
  expect(nextTicks('0 * * * *', 'Europe/Berlin', march, 3)).toEqual(['03-29T00:00', '03-29T01:00', '03-29T02:00'])
  expect(nextTicks('0 * * * *', 'Europe/Berlin', october, 3)).toEqual(['10-25T00:00', '10-25T01:00', '10-25T02:00'])
  expect(nextTicks('*/30 2 * * *', 'Europe/Berlin', march, 2)).toEqual(['03-30T00:00', '03-30T00:30'])
  expect(nextTicks('*/30 2 * * *', 'Europe/Berlin', october, 4)).toEqual([
    ...['10-25T00:00', '10-25T00:30', '10-25T01:00', '10-25T01:30'],
  ])
})

it.each(['30 2 * * *', '*/20 1-3 * * *', '0 0 * * *', '15 * * * 0'])('finds the ticks of %s backwards, too', (cron) => {
  for (const tz of ['Europe/Berlin', 'America/Santiago', 'Africa/Cairo', 'Australia/Lord_Howe', 'UTC'])
    for (const [from, to] of [
      ['2026-03-25', '2026-04-10'],
      ['2026-10-20', '2026-11-05'],
    ] as const) {
      const ticks = ticksOf(cron, tz)
      const forward: number[] = []
      for (let at = ticks.next(Date.parse(from)) ?? 0; at <= Date.parse(to); at = ticks.next(at) ?? Infinity)
        forward.push(at)
      expect(ticks.last(forward.length, Date.parse(to))).toEqual(forward)
    }
})

it.each([
  ['*/5 * * * * *', 'five: minute, hour'],
  ['0 0 1 1 * 2030', 'five: minute, hour'],
  ['0 0 30 2 *', 'never fires'],
  ['0 0 31 4,6 *', 'never fires'],
  ['61 * * * *', 'is invalid'],
  ['* * * *', 'does not have five fields'],
  ['', 'does not have five fields'],
  ['2026-12-01T00:00:00', 'does not have five fields'],
  ['@reboot', 'is invalid'],
  [`${'1,'.repeat(200)}1 * * * *`, 'at most 256 characters'],
  [7 as never, 'at most 256 characters'],
])('rejects the pattern %s', (cron, reason) => {
  expect(() => ticksOf(cron, 'UTC')).toThrow(
    expect.objectContaining({ code: 'run.options', message: expect.stringContaining(reason) }),
  )
})

it.each(['Mars/Phobos', '+02:00', '', 'x'.repeat(5000), 2 as never])('rejects the time zone %s', (tz) => {
  expect(() => ticksOf('0 8 * * *', tz)).toThrow(
    expect.objectContaining({ code: 'run.options', message: expect.stringMatching(/^.{0,200}$/) }),
  )
})

const minute = 60_000
const at = (text: string) => Date.parse(`2026-11-27T${text}:00Z`)

it.each([
  ['latest', '08:00', '08:00', '08:00', '08:05'],
  ['latest', '08:00', '11:02', '11:00', '11:05'],
  ['skip', '08:00', '08:01', '08:00', '08:05'],
  ['skip', '08:00', '11:00', '11:00', '11:05'],
  ['skip', '08:00', '11:02', undefined, '11:05'],
  ['all', '08:00', '08:11', '08:00', '08:05'],
  ['all', '00:00', '11:02', '02:45', '02:50'],
] as const)('with missed: %s, of the ticks from %s to %s runs %s, then %s', (missed, nextAt, now, tick, next) => {
  const due = dueTick(ticksOf('*/5 * * * *', 'UTC'), { nextAt: at(nextAt), now: at(now), missed, grace: minute })
  expect(due).toEqual({ ...(tick !== undefined && { tick: at(tick) }), nextAt: at(next) })
})
