import type { Part } from '@allium/core'
import { resultText } from '@allium/core/internal'
import type { UiChunk } from '../sessions/ui-messages.ts'

/** Returns the outcome of a steering message, at its place in the answer. */
export function steerChunk(id: string, data: { delivered: boolean; reason?: string }): UiChunk {
  return { type: 'data-steer', id, data }
}

/** Returns the output of a call as text. An error of the tool has its own chunk. */
export function toolOutput(toolCallId: string, content: string | readonly Part[], isError: boolean): UiChunk {
  const text = resultText(content)
  if (isError) return { type: 'tool-output-error', toolCallId, errorText: text }
  return { type: 'tool-output-available', toolCallId, output: text }
}

export function providerExecutedField({ providerExecuted }: { providerExecuted?: boolean }): {
  providerExecuted?: true
} {
  return providerExecuted === true ? { providerExecuted } : {}
}

/** Returns no arguments for text that is not JSON. The call's result has the error. */
export function parseInput(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return {}
  }
}
