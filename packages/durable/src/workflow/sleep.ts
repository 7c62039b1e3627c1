import type { CommandRequest } from './command.ts'
import { invalidOption } from './errors.ts'

/** Milliseconds: 366 days. */
const longest = 31_622_400_000

/** @param until milliseconds from now, or a date @throws AlliumError `options.invalid` */
export function sleepRequest(until: number | Date): CommandRequest {
  const ms = until instanceof Date ? until.getTime() : until
  if (typeof ms !== 'number' || !Number.isFinite(ms))
    throw invalidOption(`ctx.sleep() takes milliseconds or a Date, but ${String(until)} was given.`)
  if (!(until instanceof Date) && (ms < 0 || ms > longest))
    throw invalidOption(`ctx.sleep() takes milliseconds from 0 to ${longest} (366 days), but ${ms} was given.`)
  const args = until instanceof Date ? { until: ms } : { ms }
  return { kind: 'sleep', name: 'sleep', args, read: () => undefined }
}

/** Returns when a sleep that begins now ends, in milliseconds since the epoch. */
export function wakeTime({ ms, until }: { ms?: unknown; until?: unknown }, now: number): number {
  return typeof ms === 'number' ? now + ms : Math.min(Number(until), now + longest)
}
