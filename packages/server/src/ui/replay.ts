import type { UiChunk, UiMessage } from '../sessions/ui-messages.ts'

/** Replays a message that the page already has from its beginning, so that the rest of it can follow. */
export function* replayMessage({ id, parts }: UiMessage): Generator<UiChunk> {
  yield { type: 'start', messageId: id }
  for (const [index, part] of parts.entries()) {
    const { type, text, mediaType, url } = part
    if (type === 'step-start') {
      if (index > 0) yield { type: 'finish-step' }
      yield { type: 'start-step' }
    } else if (type === 'text' || type === 'reasoning') {
      const block = { id: `stored-${index}` }
      yield { type: `${type}-start`, ...block }
      yield { type: `${type}-delta`, ...block, delta: text }
      yield { type: `${type}-end`, ...block }
    } else if (type === 'file') yield { type, mediaType, url }
    else if (type === 'data-steer') yield { type, id: part.id, data: part.data }
    else yield* replayCall(part)
  }
}

function* replayCall({ type, toolCallId, state, input, output, errorText, approval }: UiChunk): Generator<UiChunk> {
  yield { type: 'tool-input-available', toolCallId, toolName: type.slice('tool-'.length), input }
  if (state === 'output-available') yield { type: 'tool-output-available', toolCallId, output }
  if (state === 'output-error') yield { type: 'tool-output-error', toolCallId, errorText }
  if (state === 'approval-requested')
    yield { type: 'tool-approval-request', toolCallId, approvalId: (approval as { id: string }).id }
}
