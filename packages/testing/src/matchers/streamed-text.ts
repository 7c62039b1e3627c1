import { type EventSource, eventsOf, topLevelEvents, wrongReceiver } from './received.ts'

/**
 * Returns the text that a reader of the events sees at the end: of all steps, without parts that a `model:reset` retracted, and without
 * text of sub-agents, whose events have a `path`. For node:test and others; vitest has `toHaveStreamed`.
 *
 * @throws TypeError for a source without events
 */
export function streamedText(source: EventSource): string {
  return readStream(source).text
}

/** Returns the text of a stream, and the retracted parts. */
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
