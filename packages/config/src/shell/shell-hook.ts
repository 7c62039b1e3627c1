import { AlliumError, type Message, type ToolDef } from '@allium/core'
import type { EntryCall } from '../adapter/hooks.ts'
import type { HookContexts, HookName } from '../contexts.ts'
import { toRequest } from './request.ts'
import { parseResponse, type ShellResponse, unread } from './response.ts'
import { runProcess } from './run-process.ts'

/** A program that serves as a hook. */
export interface ShellCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs a program as a hook: sends the context as JSON, and applies its response to the context. */
export async function runShellHook<Name extends HookName>(
  program: ShellCommand,
  ctx: HookContexts[Name],
  call: EntryCall,
): Promise<void> {
  const { signal } = call
  const stdout = await runProcess({
    ...program,
    input: toRequest(call.hook, ctx),
    signal,
    onLine: (line) => call.debug(line),
    defer: (work) => call.defer(work),
  })
  apply(parseResponse(stdout, program.command), ctx, program.command, call)
}

function apply(response: ShellResponse, ctx: HookContexts[HookName], command: string, call: EntryCall): void {
  const { hook } = call
  const { stop, deny, context } = response
  const { messages, request, result } = context ?? {}
  for (const field of unread(response)) call.warn(`returned ${field}, which no hook reads, so it is ignored.`)
  const warnIgnored = (field: string, hookName: HookName) =>
    call.warn(`returned ${field}, which only ${hookName} reads, so it is ignored.`)
  if (messages) {
    if (hook === 'beforeLoopBegin') (ctx as HookContexts['beforeLoopBegin']).messages = revive(messages)
    else warnIgnored('context.messages', 'beforeLoopBegin')
  }
  if (request?.messages || request?.tools) {
    if (hook === 'beforeModelCall') changeRequest((ctx as HookContexts['beforeModelCall']).request, request)
    else warnIgnored('context.request', 'beforeModelCall')
  }
  if (result) {
    if (hook === 'afterToolExecution')
      Object.assign((ctx as HookContexts['afterToolExecution']).result, pickResultFields(result))
    else warnIgnored('context.result', 'afterToolExecution')
  }
  if (typeof deny === 'string') {
    // A request to deny must not be ignored.
    if (!('deny' in ctx))
      throw new AlliumError(
        'shell.output',
        `The program "${command}" returned "deny" in ${hook}. Only beforeToolExecution can deny a call. To end the loop, return "stop".`,
      )
    ctx.deny(deny === '' ? 'Denied.' : deny)
  }
  if (typeof stop === 'string' || stop === true) ctx.stop(stop === true || stop === '' ? undefined : stop)
}

type Request = HookContexts['beforeModelCall']['request']

function changeRequest(
  request: Request,
  { messages, tools }: NonNullable<NonNullable<ShellResponse['context']>['request']>,
): void {
  if (tools) {
    const knownTools = request.tools ?? []
    const empty = { description: '', jsonSchema: { type: 'object' } }
    request.tools = tools.map(
      (tool): ToolDef => ({ ...empty, ...knownTools.find(({ name }) => name === tool.name), ...tool }),
    )
  }
  if (messages) request.messages = revive(messages)
}

function pickResultFields({ content, isError }: { content?: string; isError?: boolean }) {
  return { ...(content !== undefined && { content }), ...(isError !== undefined && { isError }) }
}

/** Restores URLs, because in JSON a URL is plain text, which a message would treat as base64. */
function revive(messages: Message[]): Message[] {
  for (const { content } of messages)
    if (typeof content !== 'string')
      for (const part of content)
        if ('data' in part && typeof part.data === 'string' && /^(https?|data|file):/.test(part.data))
          part.data = new URL(part.data)
  return messages
}
