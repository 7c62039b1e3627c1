import {
  type ContentChunk,
  type FinishChunk,
  type ModelResponse,
  noUsage,
  type Part,
  type ToolCall,
} from '@allium/core'

/** Assembles the response from chunks, for a layer that answers itself. */
export function assemble(
  chunks: readonly ContentChunk[],
  { reason, rawReason, responseId, providerMetadata, warnings }: FinishChunk,
  model: string,
): ModelResponse {
  const content: Part[] = []
  const ids = new Map<Part, string | undefined>()
  const calls = new Map<string, { call: ToolCall; json: string; part: Part }>()
  for (const chunk of chunks) {
    const metadataField = chunk.providerMetadata === undefined ? {} : { providerMetadata: chunk.providerMetadata }
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const type = chunk.type === 'text-delta' ? 'text' : 'reasoning'
        const lastPart = content.at(-1)
        if (lastPart?.type === type && ids.get(lastPart) === chunk.id) {
          lastPart.text += chunk.delta
          Object.assign(lastPart, metadataField)
          break
        }
        const part: Part = { type, text: chunk.delta, ...metadataField }
        ids.set(part, chunk.id)
        content.push(part)
        break
      }
      case 'tool-input-start': {
        const call: ToolCall = { callId: chunk.callId, name: chunk.name, args: {} }
        if (chunk.providerExecuted === true) call.providerExecuted = true
        if (chunk.approvalRequest !== undefined) call.approvalRequest = chunk.approvalRequest
        const part: Part = { type: 'tool-call', ...call, ...metadataField }
        calls.set(chunk.callId, { call, json: '', part })
        content.push(part)
        break
      }
      case 'tool-input-delta': {
        const entry = calls.get(chunk.callId)
        if (entry !== undefined) entry.json += chunk.delta
        break
      }
      case 'tool-input-end': {
        const entry = calls.get(chunk.callId)
        if (entry === undefined) break
        Object.assign(entry.call, argsOf(entry.json))
        Object.assign(entry.part, { args: entry.call.args }, metadataField)
        break
      }
      case 'tool-result':
      case 'file':
      case 'custom': {
        const { id: _, ...part } = chunk
        content.push(part)
      }
    }
  }
  const joinText = (type: 'text' | 'reasoning') => content.map((part) => (part.type === type ? part.text : '')).join('')
  const reasoning = joinText('reasoning')
  return {
    text: joinText('text'),
    ...(reasoning !== '' && { reasoning }),
    toolCalls: [...calls.values()].map(({ call }) => call),
    finishReason: reason,
    usage: noUsage(),
    model,
    message: { role: 'assistant', content },
    ...(rawReason !== undefined && { rawFinishReason: rawReason }),
    ...(responseId !== undefined && { responseId }),
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(warnings !== undefined && { warnings }),
  }
}

function argsOf(json: string): Pick<ToolCall, 'args' | 'invalid'> {
  if (json.trim() === '') return { args: {} }
  try {
    const args: unknown = JSON.parse(json)
    if (typeof args === 'object' && args !== null && !Array.isArray(args))
      return { args: args as Record<string, unknown> }
  } catch {
    // reported below
  }
  return { args: {}, invalid: 'The arguments are no JSON object.' }
}
