import { messageOf } from '@allium/core'
import { Cron } from 'croner'
import { runOptionsError } from '../host/option-errors.ts'

/** Longer patterns are rejected before they are parsed. */
const maxPatternLength = 256

/** The ticks of a pattern in a time zone, in milliseconds since the epoch. */
export interface Ticks {
  /** Returns the first tick after a time, or undefined if the pattern never fires again. */
  next(after: number): number | undefined
  /** Returns the last ticks up to a time, at most `count` of them, oldest first. */
  last(count: number, until: number): number[]
}

/**
 * Parses a cron pattern with five fields, or a nickname such as `@daily`.
 *
 * @throws AlliumError `run.options` for an invalid pattern, one that never fires, or an unknown time zone
 */
export function ticksOf(pattern: string, tz: string): Ticks {
  checkTimeZone(tz)
  const cron = parsed(pattern, tz)
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    last: (count, until) =>
      cron
        .previousRuns(count, new Date(until + 1))
        .map((date) => date.getTime())
        .toReversed(),
  }
}

function parsed(pattern: unknown, tz: string): Cron {
  if (typeof pattern !== 'string' || pattern.length > maxPatternLength)
    throw runOptionsError(
      `The option cron is a pattern of at most ${maxPatternLength} characters, but ${shown(pattern)} was given.`,
    )
  const fields = pattern.trim().split(/\s+/)
  if (fields.length > 5)
    throw runOptionsError(
      `The cron pattern "${pattern}" has ${fields.length} fields. A schedule fires at most once a minute, so it takes five: minute, hour, day of month, month and day of week. Remove the field for seconds or years.`,
    )
  const isNickname = pattern.trim().startsWith('@')
  // croner would read a date as a pattern that fires once.
  if (fields.length < 5 && !isNickname)
    throw runOptionsError(
      `The cron pattern "${pattern}" does not have five fields: minute, hour, day of month, month and day of week, as in "30 9 * * 1-5".`,
    )
  const cron = created(pattern.trim(), tz)
  if (cron.nextRun() === null)
    throw runOptionsError(
      `The cron pattern "${pattern}" never fires, because no such date exists. Check its day and month.`,
    )
  return cron
}

function created(pattern: string, tz: string): Cron {
  try {
    return new Cron(pattern, { timezone: tz, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true })
  } catch (cause) {
    const reason = messageOf(cause)
      .replace(/^CronPattern: /, '')
      .replace(/\.$/, '')
    throw runOptionsError(`The cron pattern "${pattern}" is invalid: ${reason}. Fix the pattern.`, cause)
  }
}

function checkTimeZone(tz: unknown): void {
  try {
    // An offset such as "+02:00" has no daylight saving time, and not every runtime knows it.
    if (typeof tz !== 'string' || /^[+-]/.test(tz)) throw new RangeError('An offset.')
    new Intl.DateTimeFormat('en', { timeZone: tz })
  } catch (cause) {
    throw runOptionsError(
      `The time zone ${shown(tz)} is unknown. Give the option tz the IANA name of a time zone, such as "Europe/Berlin" or "UTC".`,
      cause,
    )
  }
}

function shown(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return value.length > 64 ? `a text of ${value.length} characters` : `"${value}"`
}
