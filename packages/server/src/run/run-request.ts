import type { Decision, Input, OutputOption, RunOptions, ToolDef } from '@allium/core'
import { digestOf } from '@allium/core/internal'
import type { EntryContext } from '@allium/store/event-log'
import { requestError } from '../http/problem.ts'
import type { ServedAgent } from '../options/options.ts'

/** JSON Schema of a run's answer, which is an object. */
export type OutputJsonSchema = Readonly<Record<string, unknown>>

/** The principal of a request, and the agent that it uses. */
export interface AgentCaller {
  readonly agent: ServedAgent
  readonly principal: unknown
}

/** The request of a run: either an input, or decisions about pending calls. */
export type RunRequest = RunSettings &
  (
    | { readonly input: Input; readonly decisions?: undefined }
    | { readonly decisions: Readonly<Record<string, Decision>>; readonly input?: undefined }
  )

export type AgentRunRequest = AgentCaller & RunRequest

/** The message that a run answers, with the id that its client gave it. */
interface RunMessage {
  readonly id: string
  /** Whether a run with this idempotency key answers the same request. */
  isAnsweredBy(idempotencyKey: string): boolean
  /** Whether the message is neither in the session nor takes the place of another one. */
  isNew(): Promise<boolean>
  /** Removes the messages that this one takes the place of, once the session is free. Returns the input and the key of the run. */
  prepare(): Promise<{ readonly input: Input; readonly idempotencyKey: string }>
}

export interface RunSettings {
  readonly message?: RunMessage | undefined
  /** @default a session that is not stored */
  readonly sessionId?: string | undefined
  /** Tools whose calls are returned to the client. */
  readonly clientTools?: readonly ToolDef[] | undefined
  /** JSON Schema of the answer. @default the answer is text */
  readonly output?: OutputJsonSchema | undefined
  readonly idempotencyKey?: string | undefined
  readonly onRetryAfterOutput?: 'reset' | 'fail'
  /** @default the option of the server */
  readonly onDisconnect?: 'abort' | 'continue' | undefined
  /** The approver, if it is not the owner. */
  readonly approver?: unknown
}

/** Returns the input digest of an idempotency key. It covers everything that changes what the run does. */
export function inputDigestOf({ input, decisions, output, clientTools }: AgentRunRequest): Promise<string> {
  return digestOf([input ?? null, decisions ?? null, output ?? null, clientTools ?? null])
}

/**
 * Reads the JSON Schemas that a client sent, and returns that of the answer. The interpreter is imported with the first one.
 *
 * @throws AlliumError `schema.limits`
 */
export async function readSchemas({ clientTools = [], output }: RunSettings): Promise<OutputOption | undefined> {
  if (clientTools.length === 0 && output === undefined) return undefined
  const { untrustedSchema } = await import('@allium/shared/json-schema')
  for (const { jsonSchema } of clientTools) await untrustedSchema(jsonSchema)
  return output && untrustedSchema(output)
}

export function runOptionsOf(
  { idempotencyKey, onRetryAfterOutput, clientTools }: RunSettings,
  output: OutputOption | undefined,
): RunOptions<unknown, OutputOption | undefined> {
  return { idempotencyKey, onRetryAfterOutput, clientTools, ...(output !== undefined && { output }) }
}

export function entryContextOf({ clientTools, decisions }: AgentRunRequest): EntryContext {
  return {
    clientTools: clientTools && new Set(clientTools.map(({ name }) => name)),
    decided: decisions && Object.keys(decisions),
  }
}

/** @throws AlliumError `run.key_reused` if the key belongs to a run with another request */
export function checkKeyReuse(recordedDigest: string, digest: string, key: string | undefined): void {
  if (recordedDigest !== digest)
    throw requestError(
      'run.key_reused',
      `The idempotency key "${key}" was already used for another input in this session. Use a unique key for each input.`,
    )
}
