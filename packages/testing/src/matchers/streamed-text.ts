import { type EventSource, eventsOf, topLevelEvents, wrongReceiver } from './received.ts'

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
export function readStream(source: EventSource): { text: string; retracted: string[] } {
  const events = eventsOf(source)
  if (events === undefined) throw wrongReceiver('a list of events, or what runLayer gave', source)
  const retracted: string[] = []
  let text = ''
  let step = ''
  for (const event of topLevelEvents(events)) {
    if (event.type === 'text-delta') step += event.delta
    else if (event.type === 'step:start') {
      text += step
      step = ''
    } else if (event.type === 'model:reset') {
      if (step !== '') retracted.push(step)
      step = ''
    }
  }
  return { text: text + step, retracted }
}
