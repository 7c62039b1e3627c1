import type { Message, ModelContext, ModelResponse, NextFor, ToolDef } from '@allium/core'
import type { ModelCallContext } from '../contexts.ts'
import { type Draft, type EntryState, Lazy } from './draft.ts'
import { endsRun, fire, fireError } from './fire.ts'
import type { Loop } from './loop.ts'
import { inLoop } from './loop-context.ts'
import { copyOfData, sendableMessages, sendableModel, sendableThinking, sendableTools } from './sendable.ts'
import { fireChunk, toStreamChunk } from './stream-hooks.ts'

/** Runs one model call with its hooks: before, on each chunk, after, and on error. */
export async function modelHooks(loop: Loop, ctx: ModelContext, next: NextFor<ModelResponse>): Promise<ModelResponse> {
  if (loop.stopped !== undefined) return ctx.skipCall('')
  loop.iteration = ctx.stepIndex // in a sub-agent no other code sets it
  await fire(loop, {
    hook: 'beforeModelCall',
    turn: ctx,
    phase: 'model_call',
    draft: (entryState) => callDraft(loop, ctx, entryState),
  })
  if (loop.stopped !== undefined) {
    loop.open = false
    return ctx.skipCall('')
  }
  const streams = watchStream(loop, ctx)
  let response: ModelResponse
  try {
    response = await next()
  } catch (error) {
    if (!endsRun(error, ctx)) await fireError(loop, ctx, streams() ? 'stream' : 'model_call', error)
    throw error
  }
  const { inputTokens, outputTokens } = response.usage
  await fireChunk(loop, ctx, { type: 'done', usage: { inputTokens, outputTokens } })
  const draft = (entryState: EntryState) => ({ ctx: callDraft(loop, ctx, entryState, [response.message]).ctx })
  await fire(loop, { hook: 'afterModelResponse', turn: ctx, phase: 'model_call', draft })
  return response
}

/** Fires `onStreamChunk` before a chunk is passed on. Returns a function that says whether a chunk has arrived. */
function watchStream(loop: Loop, ctx: ModelContext): () => boolean {
  let streams = false
  if (loop.hooks.onStreamChunk !== undefined)
    ctx.pipe(async function* (chunks) {
      for await (const chunk of chunks) {
        streams = true
        const streamChunk = toStreamChunk(chunk)
        if (streamChunk !== undefined) await fireChunk(loop, ctx, streamChunk)
        yield chunk
      }
    })
  else if (loop.hooks.onError !== undefined)
    ctx.onChunk(() => {
      streams = true
    })
  return () => streams
}

function callDraft(
  loop: Loop,
  ctx: ModelContext,
  entryState: EntryState,
  more?: readonly Message[],
): Draft<ModelCallContext> {
  const messages = new Lazy<Message[]>(() => ctx.request.messages)
  const tools = new Lazy<ToolDef[] | undefined>(() => ctx.request.tools)
  const { model } = ctx
  const thinking = ctx.request.settings.reasoning
  const request: ModelCallContext['request'] = {
    model,
    get messages() {
      return messages.value
    },
    set messages(changed) {
      messages.value = changed
    },
    get tools() {
      return tools.value
    },
    set tools(changed) {
      tools.value = changed
    },
    ...(thinking !== undefined && { thinking }),
  }
  const hook = inLoop(loop, entryState, { request }, more)
  return {
    ctx: hook,
    commit() {
      const now: Partial<ModelCallContext['request']> = copyOfData(hook.request, 'ctx.request')
      // Fields that a replaced request leaves out stay unchanged.
      const has = (key: keyof typeof now) => now === request || key in now
      if (now === request ? messages.touched : 'messages' in now)
        ctx.messages = sendableMessages(now.messages, 'ctx.request.messages')
      if (now === request ? tools.touched : 'tools' in now) ctx.toolDefs = sendableTools(now.tools)
      if (now.model !== model && has('model')) ctx.setModel(sendableModel(now.model))
      if (now.thinking !== thinking && has('thinking')) ctx.settings.reasoning = sendableThinking(now.thinking)
    },
  }
}
