import type { Message } from '../../src/index.ts'

/** What is seen of a run from outside, as far as it can be judged without knowing what it should have been. */
export interface Seen {
  readonly status: string
  readonly text: string
  readonly onRetryAfterOutput: 'fail' | undefined
  /** The text as a screen that honours resets shows it. */
  readonly shown: string
  /** Types of the events in its stream, where somebody read it to its end. */
  readonly events: readonly string[] | undefined
  /** What observers heard, by type. */
  readonly heard: readonly string[]
  /** What the run added to the history, and all of it. */
  readonly messages: readonly Readonly<Message>[]
  readonly history: readonly Readonly<Message>[]
  /** Calls that wait for a human. */
  readonly pending: readonly string[]
  /** Streams that were opened and not closed. */
  readonly open: number
}

/** What holds for every run, whatever its layers do: each line that this gives was broken. */
export function broken(seen: Seen): string[] {
  return [...ends(seen), ...agrees(seen), ...answered(seen), ...closes(seen)]
}

/** One `turn:end`, and nothing behind it. */
function* ends({ events, heard }: Seen): Generator<string> {
  const count = heard.filter((type) => type === 'turn:end').length
  if (count !== 1) yield `turn:end came ${count} times`
  const after = heard.slice(heard.indexOf('turn:end') + 1).filter((type) => !outliving.has(type))
  if (count === 1 && after.length > 0) yield `${after.join()} after turn:end`
  if (events !== undefined && events.at(-1) !== 'turn:end') yield `${events.at(-1)} ends the stream`
}

/** Events of a session or an agent, and reports of what failed in an observer, belong to no turn. */
const outliving = new Set(['observer:error', 'session:start', 'session:end', 'agent:start', 'agent:end'])

/** Stream, response and history say the same. */
function* agrees({ status, text, shown, events, messages }: Seen): Generator<string> {
  const texts = messages.filter(({ role }) => role === 'assistant').map(textOf)
  if (events !== undefined && shown !== texts.join(''))
    yield `${JSON.stringify(shown)} was shown, the history has ${JSON.stringify(texts)}`
  const answers = status === 'completed'
  if (answers && !(texts.at(-1) ?? '').endsWith(text))
    yield `the text is ${JSON.stringify(text)}, the history has ${JSON.stringify(texts)}`
}

/** Every call has exactly one result, behind it. */
function* answered({ history, pending }: Seen): Generator<string> {
  const open = new Set<string>()
  for (const { content } of history) {
    if (typeof content === 'string') continue
    for (const part of content) {
      if (part.type === 'tool-call') open.add(part.callId)
      else if (part.type === 'tool-result' && !open.delete(part.callId)) yield `a result of ${part.callId} too many`
    }
  }
  for (const callId of open) if (!pending.includes(callId)) yield `no result of ${callId}`
}

/** Streams are closed, tools that were told to begin are told to end. */
function* closes({ open, heard }: Seen): Generator<string> {
  if (open !== 0) yield `${open} streams are open`
  for (const [start, end] of [
    ['tool:start', 'tool:end'],
    ['model:start', 'model:end'],
  ]) {
    const count = (type: string | undefined) => heard.filter((other) => other === type).length
    if (count(start) !== count(end)) yield `${count(start)} ${start}, ${count(end)} ${end}`
  }
}

function textOf({ content }: Readonly<Message>): string {
  return typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
