/**
 * How the clients send a chat request.
 *
 * @typedef {(port: number, session: string, input: string) => { path: string, body: object, answered?: (events: object[]) => void }} Protocol
 *   `answered` takes the events of the answer
 */

/** A request with the question, as a program sends it. @type {Protocol} */
export function native(_, session, input) {
  return { path: `/sessions/${session}/runs`, body: { input } }
}

/** Pages with `useChat` of the AI SDK. By default they send all messages of their chat with each question. @returns {Protocol} */
export function uiPages() {
  /** The messages of each page, by server and session. */
  const pages = new Map()
  return (port, session, input) => {
    const page = `${port} ${session}`
    const messages = pages.get(page) ?? []
    pages.set(page, messages)
    messages.push({ id: `question-${messages.length}`, role: 'user', parts: [{ type: 'text', text: input }] })
    const answered = (events) => messages.push(answerOf(events))
    return { path: '/chat', body: { id: session, messages, trigger: 'submit-message' }, answered }
  }
}

/** The message that `useChat` makes of an answer. */
function answerOf(events) {
  const parts = []
  const open = new Map()
  for (const { type, id, delta, toolCallId, toolName, input, output } of events) {
    if (type === 'start-step') parts.push({ type: 'step-start' })
    if (type === 'text-start') open.set(id, parts[parts.push({ type: 'text', text: '', state: 'done' }) - 1])
    if (type === 'text-delta') open.get(id).text += delta
    if (type === 'tool-input-available') {
      open.set(toolCallId, { type: `tool-${toolName}`, toolCallId, state: 'output-available', input })
      parts.push(open.get(toolCallId))
    }
    if (type === 'tool-output-available') open.get(toolCallId).output = output
  }
  return { id: events.find(({ type }) => type === 'start')?.messageId, role: 'assistant', parts }
}
