import { AlliumError, type NextFor, type ToolContext, type ToolResult } from '@allium/core'
import { resultText } from '@allium/core/internal'
import type { ToolExecutionContext, ToolResultContext } from '../contexts.ts'
import type { Draft, EntryState } from './draft.ts'
import { fire, fireError } from './fire.ts'
import type { Loop } from './loop.ts'
import { inLoop } from './loop-context.ts'
import { copyOfData } from './sendable.ts'

/** Runs one tool call with its hooks. A refused call, or one after `stop()`, does not run, and the model receives the reason. */
export async function toolHooks(loop: Loop, ctx: ToolContext, next: NextFor<ToolResult>): Promise<ToolResult> {
  if (loop.stopped !== undefined) return ctx.deny(`Not run: ${loop.stopped}`)
  const denial = await beforeTool(loop, ctx)
  if (denial !== undefined) return ctx.deny(denial.reason)
  if (loop.stopped !== undefined) return ctx.deny(`Not run: ${loop.stopped}`)
  const result = await next()
  if (result.status === 'suspended') return result
  if (result.error !== undefined) await fireError(loop, ctx, 'tool_execution', result.error)
  return afterTool(loop, ctx, result)
}

/** The reason of a denial. A JavaScript hook may omit the reason; the call is denied anyway. */
interface Denial {
  readonly reason: string
}

async function beforeTool(loop: Loop, ctx: ToolContext): Promise<Denial | undefined> {
  let denial: Denial | undefined
  const deny = (reason: string) => {
    denial ??= { reason }
  }
  await fire(loop, {
    hook: 'beforeToolExecution',
    turn: ctx,
    phase: 'tool_execution',
    draft: (entryState) => executionDraft(loop, ctx, entryState, deny),
    isDecided: () => denial !== undefined,
    refuse: deny,
  })
  return denial
}

function executionDraft(
  loop: Loop,
  ctx: ToolContext,
  entryState: EntryState,
  deny: (reason: string) => void,
): Draft<ToolExecutionContext> {
  const toolCall = toolCallOf(ctx)
  const argumentsBefore = toolCall.arguments
  const refuse = (reason: string) => {
    if (entryState.open) deny(reason)
  }
  const hook = inLoop(loop, entryState, { toolCall, deny: refuse })
  return {
    ctx: hook,
    commit() {
      const changed = copyOfData(hook.toolCall, 'ctx.toolCall').arguments
      if (changed === argumentsBefore) return
      const args = parseArgs(changed)
      ctx.modifyArgs(() => args)
    },
  }
}

async function afterTool(loop: Loop, ctx: ToolContext, result: ToolResult): Promise<ToolResult> {
  let now = result
  let denied: string | undefined
  await fire(loop, {
    hook: 'afterToolExecution',
    turn: ctx,
    phase: 'tool_execution',
    draft: (entryState) => resultDraft(loop, ctx, entryState, now, (changed) => (now = changed)),
    refuse: (reason) => (denied = reason),
  })
  return denied === undefined ? now : ctx.deny(denied)
}

function resultDraft(
  loop: Loop,
  ctx: ToolContext,
  entryState: EntryState,
  given: ToolResult,
  change: (result: ToolResult) => void,
): Draft<ToolResultContext> {
  const content = resultText(given.content)
  const isError = given.isError === true
  const hook = inLoop(loop, entryState, {
    toolCall: toolCallOf(ctx),
    result: { toolCallId: ctx.callId, content, ...(isError && { isError }) } as ToolResultContext['result'],
  })
  return {
    ctx: hook,
    commit() {
      const changed = copyOfData(hook.result, 'ctx.result')
      const fails = changed.isError === true
      if (changed.content === content && fails === isError) return
      if (typeof changed.content !== 'string')
        throw new AlliumError(
          'config.hook',
          'ctx.result.content was set to a value that is not a string. Set it to the text that the model should receive.',
        )
      const status = fails === isError ? given.status : fails ? 'error' : 'ok'
      change({ ...given, content: changed.content, isError: fails, status })
    },
  }
}

function toolCallOf({ callId, tool, args }: ToolContext): { id: string; name: string; arguments: string } {
  return { id: callId, name: tool.name, arguments: JSON.stringify(args) }
}

function parseArgs(text: unknown): Record<string, unknown> {
  try {
    const args: unknown = JSON.parse(text as string)
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args as Record<string, unknown>
  } catch {}
  throw new AlliumError(
    'config.hook',
    'ctx.toolCall.arguments was changed to a value that is not the JSON text of an object. Set it to JSON.stringify(args).',
  )
}
