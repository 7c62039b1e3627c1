import { list, matchesText, type Outcome, outcome, short, show } from './outcome.ts'
import type { EventSource } from './received.ts'
import { type RequestSource, requestsOf, sentTexts } from './sent-texts.ts'
import { readStream } from './streamed-text.ts'

/** Passes if the readers' final text contains the text or matches the pattern. */
export function toHaveStreamed(received: EventSource, text: string | RegExp): Outcome {
  const { text: streamed, retracted: takenBack } = readStream(received)
  const seen = `Streamed: ${show(streamed)}`
  const hint = takenBack.some((part) => matchesText(part, text))
    ? 'It was streamed, and taken back by a model:reset: a layer made another attempt.'
    : list('Taken back by a model:reset', takenBack.map(show))
  return outcome(matchesText(streamed, text), {
    fails: `Expected the stream to have ${show(text)}.\n\n${seen}\n\n${hint}`,
    negated: `Expected the stream not to have ${show(text)}.\n\n${seen}`,
  })
}

/** Passes if a message of any request contains the text or matches the pattern. */
export function toHaveSent(received: RequestSource, text: string | RegExp): Outcome {
  const requests = sentTexts(received)
  const at = requests.findIndex((texts) => texts.some((one) => matchesText(one, text)))
  const sent = requestsOf(received).map(
    ({ messages }, i) =>
      `${messages.map(({ role }) => role).join(', ')}\n${(requests[i] ?? []).map((one) => `     ${short(JSON.stringify(one), 200)}`).join('\n')}`,
  )
  const about = list('Requests', sent)
  return outcome(at >= 0, {
    fails: `Expected the model to be sent ${show(text)}.\n\n${about}\n\n${requests.length === 0 ? 'The model was not called: did a layer answer in its place?' : 'This is what left the innermost layer; a layer may have removed it.'}`,
    negated: `Expected the model not to be sent ${show(text)}, but request ${at + 1} has it.\n\n${about}`,
  })
}
