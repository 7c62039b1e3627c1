import type { ContentChunk, ToolResult, ToolResultInput, Transforms } from '@allium/core'
import { type ModelResponse, modelId, pushAll, type Sink, Stage, toResponse, wholeResponse } from '@allium/core'
import type { AnyContext } from './combine.ts'
import { copyOf } from './copy.ts'
import { argsOf } from './record.ts'

/** The fields of a call that a layer may change in place, as copies; a reading of the real ones would leave traces. */
export function callFields(ctx: AnyContext): Map<string, unknown> {
  if (ctx.request !== undefined) {
    const { messages, tools, settings, toolChoice, responseFormat } = ctx.request
    return copyEach({ messages, toolDefs: tools, settings, toolChoice, responseFormat })
  }
  if (ctx.modifyArgs !== undefined) return copyEach({ args: argsOf(ctx), input: ctx.input })
  return copyEach(ctx.input === undefined ? {} : { input: ctx.input })
}

/** A whole answer of what a shadow gave: as its scope would make it. */
export function answerOf(ctx: AnyContext, layer: string, given: unknown): ModelResponse | ToolResult {
  if (ctx.request !== undefined) return toResponse(given, layer, modelId(ctx.model ?? ''))
  const result = typeof given === 'string' ? { content: given } : (given as Exclude<ToolResultInput, string>)
  return { status: 'skipped', ...result, callId: ctx.callId ?? '' }
}

/** A response as the transforms of a layer would have let it through: all of it at once, after it is complete. */
export async function transformed(
  layer: string,
  transforms: Transforms,
  response: ModelResponse,
): Promise<ModelResponse> {
  const assembly = await replay(layer, transforms, wholeResponse(response))
  const toolCalls = assembly.toolCalls()
  return { ...response, text: assembly.text, toolCalls, message: assembly.message(toolCalls) }
}

export async function transformedText(layer: string, transforms: Transforms, text: string): Promise<string> {
  const assembly = await replay(layer, transforms, text === '' ? [] : [{ type: 'text-delta', delta: text }])
  return assembly.text
}

async function replay(layer: string, { steps }: Transforms, chunks: readonly ContentChunk[]) {
  const stage = new Stage(layer, { steps, hold: false }, nowhere)
  await pushAll(stage, chunks)
  await stage.end({ error: undefined })
  return stage.assembly
}

const nowhere: Sink = { push() {}, reset() {}, used: false, open: true }

function copyEach(fields: Record<string, unknown>): Map<string, unknown> {
  return new Map(Object.entries(fields).map(([key, value]) => [key, copyOf(value)]))
}
