import type { ToolCall as CallOfModel, ModelResponse } from '../model/response.ts'
import { notJson } from '../model/tool-args.ts'
import { type CheckedArgs, checkArgs, refusedKey } from '../tool/check-args.ts'
import { type RequestedCall, type SentArgs, ToolCall } from './tool-call.ts'
import type { Turn } from './turn.ts'

/** Returns the calls of an answer, except those that the provider ran. */
export function requestedCalls(response: ModelResponse): RequestedCall[] {
  const requested: RequestedCall[] = []
  for (const call of response.toolCalls) {
    if (call.providerExecuted === true) continue
    const problem = call.invalid === undefined ? cutShort(call, response) : invalidJson(call.invalid, response)
    requested.push({ call, index: requested.length, problem, approval: undefined, suspension: undefined })
  }
  return requested
}

/** Validates the arguments of a call, before a layer sees it. */
export function prepare(
  turn: Turn,
  requested: RequestedCall,
  args: Record<string, unknown>,
): ToolCall | Promise<ToolCall> {
  const { call, problem } = requested
  const isRemote = call.approvalRequest !== undefined
  const registered = isRemote ? undefined : turn.options.tools.get(call.name)
  const make = (invalid: SentArgs['invalid'], parsed?: unknown, cause?: unknown) =>
    new ToolCall(turn, requested, { args, invalid, cause }, registered, parsed)
  const judged = (checked: CheckedArgs) =>
    checked.issues === undefined ? make(undefined, checked.value) : make(checked.issues, undefined, checked.cause)
  if (registered === undefined && !isRemote) return make([{ message: noSuchTool(turn, call.name) }])
  if (problem !== undefined) return make([{ message: problem }])
  const refused = refusedKey(call.args)
  if (refused !== undefined) return make(refused.issues)
  if (registered === undefined) return make(undefined, args)
  const checking = checkArgs(registered.tool, args, turn.session.agent.setup.validate)
  return checking instanceof Promise ? checking.then(judged) : judged(checking)
}

const truncated = 'The arguments were truncated, because the answer reached its length limit. Send a shorter call.'

function invalidJson(problem: string, response: ModelResponse): string {
  if (response.finishReason === 'length') return truncated
  const cut = problem === notJson ? ' They may have been truncated.' : ''
  return `${problem}${cut} Send the call again, as one JSON object.`
}

/** Returns the problem if the answer reached its length limit before any argument of its last call arrived. */
function cutShort(call: CallOfModel, { finishReason, toolCalls }: ModelResponse): string | undefined {
  const cut = finishReason === 'length' && toolCalls.at(-1) === call && Object.keys(call.args).length === 0
  return cut ? truncated : undefined
}

function noSuchTool(turn: Turn, name: string): string {
  const names = turn.options.tools.defs.map((def) => def.name)
  return `There is no tool "${name.slice(0, 100)}". ${names.length === 0 ? 'There are no tools.' : `The tools are: ${names.join(', ')}.`}`
}
