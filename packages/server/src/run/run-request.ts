import { type Decision, digestOf, type Input, type OutputOption, type RunOptions, type ToolDef } from '@allium/core'
import { type EntryContext, jsonOutput } from '@allium/durable/log'
import { requestError } from '../http/problem.ts'
import type { ServedAgent } from '../options.ts'
import type { OutputJsonSchema } from './output-json-schema.ts'

/** Who asks, and whom. */
export interface AgentCaller {
  readonly agent: ServedAgent
  readonly principal: unknown
}

/** What a run is asked: an input, or decisions about the calls that wait; never neither. */
export type RunRequest = RunSettings &
  (
    | { readonly input: Input; readonly decisions?: undefined }
    | { readonly decisions: Readonly<Record<string, Decision>>; readonly input?: undefined }
  )

export type AgentRunRequest = AgentCaller & RunRequest

export interface RunSettings {
  /** @default one that is not stored */
  readonly sessionId?: string | undefined
  /** Tools whose calls are handed back to who asks. */
  readonly clientTools?: readonly ToolDef[] | undefined
  /** What its answer must be. @default a text */
  readonly output?: OutputJsonSchema | undefined
  readonly idempotencyKey?: string | undefined
  readonly resets?: 'allow' | 'refuse'
  /** @default that of the server */
  readonly onDisconnect?: 'abort' | 'continue' | undefined
  /** Who decides, where that is not the owner. */
  readonly decider?: unknown
}

/** What an idempotency key stands for: all that changes what the run does. */
export function inputDigestOf({ input, decisions, output, clientTools }: AgentRunRequest): Promise<string> {
  return digestOf([input ?? null, decisions ?? null, output ?? null, clientTools ?? null])
}

export function runOptionsOf({
  idempotencyKey,
  resets,
  clientTools,
  output,
}: RunSettings): RunOptions<unknown, OutputOption | undefined> {
  const outputOption = output === undefined ? {} : { output: jsonOutput(output) }
  return { idempotencyKey, resets, clientTools, ...outputOption }
}

export function entryContextOf({ clientTools, decisions }: AgentRunRequest): EntryContext {
  return {
    clientTools: clientTools && new Set(clientTools.map(({ name }) => name)),
    decided: decisions && Object.keys(decisions),
  }
}

/** @throws AlliumError `run.key_reused` where its key stands for a run that was asked something else */
export function checkKeyReuse(recordedDigest: string, digest: string, key: string | undefined): void {
  if (recordedDigest !== digest)
    throw requestError(
      'run.key_reused',
      `The key "${key}" stands for another input in this session. Give each input a key of its own.`,
    )
}
