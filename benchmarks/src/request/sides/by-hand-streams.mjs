import { randomUUID } from 'node:crypto'

/** Events of a program's own: text, results and the end. */
export function nativeStream(sse) {
  const write = (event) => sse.writeSSE({ event: event.type, data: JSON.stringify(event) })
  return {
    start() {},
    beginStep() {},
    text: (delta) => write({ type: 'text-delta', delta }),
    call() {},
    args() {},
    result: (id, content) => write({ type: 'tool-result', id, content }),
    endStep() {},
    end: () => write({ type: 'end' }),
  }
}

/** A UI message stream of the AI SDK, as `useChat` reads it. */
export function uiStream(sse) {
  const write = (chunk) => sse.writeSSE({ data: JSON.stringify(chunk) })
  let texts = 0
  let isOpen = false
  const closeText = async () => {
    if (isOpen) await write({ type: 'text-end', id: `text-${texts}` })
    isOpen = false
  }
  return {
    start: () => write({ type: 'start', messageId: randomUUID() }),
    beginStep: () => write({ type: 'start-step' }),
    async text(delta) {
      if (!isOpen) await write({ type: 'text-start', id: `text-${++texts}` })
      isOpen = true
      await write({ type: 'text-delta', id: `text-${texts}`, delta })
    },
    /** @param delta the new part of the call */
    async call({ id: toolCallId, function: { name: toolName } }, delta) {
      await closeText()
      if (delta.name) await write({ type: 'tool-input-start', toolCallId, toolName })
      if (delta.arguments) await write({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta.arguments })
    },
    args: (toolCallId, toolName, input) => write({ type: 'tool-input-available', toolCallId, toolName, input }),
    result: (toolCallId, output) => write({ type: 'tool-output-available', toolCallId, output }),
    async endStep() {
      await closeText()
      await write({ type: 'finish-step' })
    },
    async end() {
      await write({ type: 'finish', finishReason: 'stop' })
      await sse.writeSSE({ data: '[DONE]' })
    },
  }
}
