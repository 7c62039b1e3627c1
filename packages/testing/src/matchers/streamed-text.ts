import { type EventSource, eventsOf, notA, ownEvents } from './received.ts'

/**
 * The text that a reader of the events has on the screen at the end: all steps, without what a `model:reset` took
 * back, and without what sub-agents said: their events have a `path`. For node:test and others; vitest has `toHaveStreamed`.
 *
 * @throws TypeError for what has no events
 */
export function streamedText(source: EventSource): string {
  return readStream(source).text
}

/** The text of a stream, and what was taken back on the way. */
export function readStream(source: EventSource): { text: string; takenBack: string[] } {
  const events = eventsOf(source)
  if (events === undefined) throw notA('a list of events, or what runLayer gave', source)
  const takenBack: string[] = []
  let kept = ''
  let step = ''
  for (const event of ownEvents(events)) {
    if (event.type === 'text-delta') step += event.delta
    else if (event.type === 'step:start') {
      kept += step
      step = ''
    } else if (event.type === 'model:reset') {
      if (step !== '') takenBack.push(step)
      step = ''
    }
  }
  return { text: kept + step, takenBack }
}
