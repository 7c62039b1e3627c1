import type { Decision, PendingCall } from '@allium/core'
import { isRecord } from '@allium/core/internal'
import type { ClientCapabilities, InputRequest } from '@modelcontextprotocol/server'
import type { Sdk } from './sdk.ts'

/** A pending call that the client of MCP can decide. */
export interface Question {
  readonly call: PendingCall
  readonly request: InputRequest
  /** Whether the answer approves the call. Otherwise it is data for the tool. */
  readonly approves: boolean
}

/**
 * Returns the questions about pending calls, by the names of their tools. They are those that the client can answer. If it can answer
 * none, they are the requests that no person can answer in its place: the SDK rejects these with the missing capability.
 */
export function questionsOf(
  pending: readonly PendingCall[],
  capabilities: ClientCapabilities = {},
): ReadonlyMap<string, Question> {
  // The client of MCP cannot run calls of client tools. Calls without a token are those that only others may approve.
  const all = pending.filter(({ client, token }) => client !== true && token !== undefined).map(questionOf)
  const answerable = all.filter(({ request }) => canAnswer(capabilities, request))
  const asked =
    answerable.length > 0 ? answerable : all.filter(({ request }) => request.method !== 'elicitation/create')
  const named = new Map<string, Question>()
  for (const question of asked) {
    const { name } = question.call
    let key = name
    for (let count = 2; named.has(key); count++) key = `${name}_${count}`
    named.set(key, question)
  }
  return named
}

/** Returns the decision in an answer. Undefined if it answers another question, or none. */
export function decisionOf(
  { call: { token }, request, approves }: Question,
  answer: ReturnType<Sdk['inputResponse']>,
): Decision | undefined {
  const withToken = (decision: Decision): Decision => ({ ...decision, token })
  if (answer.kind === 'sampling' && request.method === 'sampling/createMessage')
    return withToken({ approve: true, data: answer.result })
  if (answer.kind === 'roots' && request.method === 'roots/list')
    return withToken({ approve: true, data: { roots: answer.roots } })
  if (answer.kind !== 'elicit' || request.method !== 'elicitation/create') return undefined
  const { action, content } = answer
  const accepts = action === 'accept' && (!approves || content?.approve === true)
  if (!accepts) return withToken({ deny: 'The person at the client has refused.' })
  return withToken(approves ? { approve: true } : { approve: true, data: content ?? {} })
}

function questionOf(call: PendingCall): Question {
  const { name, args, request: { reason, question, mcp } = {} } = call
  if (isRecord(question) && isRecord(question.schema))
    return { call, approves: false, request: form(String(question.message), question.schema as unknown as FormSchema) }
  if (isRecord(mcp)) return { call, approves: false, request: mcp as unknown as InputRequest }
  const message = `${reason ?? `The tool ${name} is waiting for approval.`}\n${name}(${JSON.stringify(args)})`
  return {
    call,
    approves: true,
    request: form(message, {
      type: 'object',
      required: ['approve'],
      properties: { approve: { type: 'boolean', title: `Run ${name} with these arguments` } },
    }),
  }
}

type FormSchema = Extract<InputRequest['params'], { requestedSchema: unknown }>['requestedSchema']

function form(message: string, requestedSchema: FormSchema): InputRequest {
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }
}

function canAnswer({ elicitation, sampling, roots }: ClientCapabilities, { method }: InputRequest): boolean {
  if (method === 'sampling/createMessage') return sampling !== undefined
  if (method === 'roots/list') return roots !== undefined
  // A client that declares no mode supports forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}
