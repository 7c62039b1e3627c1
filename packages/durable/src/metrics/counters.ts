import type { DurableEvent } from '../host/durable-event.ts'

/** The labels of a sample. They contain no tenant, user or run, because each would create a separate time series. */
export type Labels = Readonly<Record<string, string>>

export const counterNames = ['claims', 'takeovers', 'step_retries', 'ends', 'dead_letters', 'expired'] as const
export type CounterName = (typeof counterNames)[number]

export const descriptions: Readonly<Record<CounterName, string>> = {
  claims: 'Durable runs that this process began or continued',
  takeovers: 'Durable runs that this process continued because another one was lost',
  step_retries: 'Starts of a durable run that repeat a step, because the previous start recorded none',
  ends: 'Durable runs that ended in this process',
  dead_letters: 'Durable runs that failed without a turn and wait for a retry',
  expired: 'Durable runs that were deleted after their retention',
}

export interface Increment {
  readonly name: CounterName
  readonly labels: Labels
  readonly by: number
}

/** Returns the counters that an event increments. */
export function incrementsOf(event: DurableEvent): Increment[] {
  if (event.type === 'expire') return [{ name: 'expired', labels: { status: event.status }, by: event.count }]
  const { agent, version } = event
  const increment = (name: CounterName, more: Labels = {}) => ({ name, labels: { agent, version, ...more }, by: 1 })
  if (event.type === 'claim')
    return [
      increment('claims'),
      ...(event.takeover ? [increment('takeovers')] : []),
      ...(event.attempt > 1 ? [increment('step_retries')] : []),
    ]
  const { status, code = '', givenUp } = event
  return [increment('ends', { status }), ...(givenUp ? [increment('dead_letters', { code })] : [])]
}
