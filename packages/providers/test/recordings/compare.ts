import { Agent, type AnyTool, type ToolDef } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { jsonSchema as jsonSchemaV7, stepCountIs as stepCountIsV7, streamText as streamTextV7 } from 'ai'
import { jsonSchema as jsonSchemaV5, stepCountIs as stepCountIsV5, streamText as streamTextV5 } from 'ai-v5'
import { jsonSchema as jsonSchemaV6, stepCountIs as stepCountIsV6, streamText as streamTextV6 } from 'ai-v6'
import type { Version } from './packages.ts'
import { bytesOf, contentTypeOf, type Recording, replay, type SdkTool } from './recording.ts'

/** The first `ai` that speaks each version by itself. */
const sdks = {
  v2: { streamText: streamTextV5, jsonSchema: jsonSchemaV5, stepCountIs: stepCountIsV5 },
  v3: { streamText: streamTextV6, jsonSchema: jsonSchemaV6, stepCountIs: stepCountIsV6 },
  v4: { streamText: streamTextV7, jsonSchema: jsonSchemaV7, stepCountIs: stepCountIsV7 },
}

/** What came of a recording: one turn with it, and the next turn of the same conversation. */
export interface Outcome {
  text: string
  reasoning: string
  calls: unknown[]
  sources: unknown[]
  files: unknown[]
  usage: unknown
  rawFinishReason: unknown
  providerMetadata: unknown
  warnings: number
  /** The bodies of all requests. */
  bodies: unknown[]
}

export const inputs = ['What is it?', 'And then?']

/** What `streamText` makes of it. Its types are those of three packages: it is taken as it is. */
export async function bySdk(recording: Recording, version: Version): Promise<Outcome> {
  const { fetch, bodies } = replay(recording.answers.map(bytesOf), contentTypeOf(recording))
  const { streamText, jsonSchema, stepCountIs } = sdks[version] as unknown as Sdk
  const model = recording.models[version]!(fetch)
  const messages: unknown[] = []
  const { stop: stopSequences, ...settings } = recording.settings ?? {}
  const turns: Outcome[] = []
  for (const content of inputs) {
    messages.push({ role: 'user', content })
    const outcome = { ...nothing(), bodies }
    const run = streamText({
      model,
      messages,
      tools: sdkTools(recording, version, jsonSchema),
      stopWhen: stepCountIs(5),
      maxRetries: 0,
      ...settings,
      ...(stopSequences !== undefined && { stopSequences }),
    })
    for await (const part of run.fullStream) {
      if (part.type === 'error') throw part.error
      if (part.type === 'source') outcome.sources.push(sourceOf(part))
      if (part.type === 'file' || part.type === 'reasoning-file') outcome.files.push(part.file?.mediaType)
      if (part.type === 'reasoning-delta') outcome.reasoning += part.text
      if (part.type === 'tool-call') outcome.calls.push(part.toolName)
      if (part.type === 'finish-step') outcome.warnings = (await run.warnings)?.length ?? 0
    }
    const { inputTokens, outputTokens } = await (run.totalUsage ?? run.usage)
    turns.push({
      ...outcome,
      text: await run.text,
      usage: { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 },
      rawFinishReason: await run.rawFinishReason,
      providerMetadata: await run.providerMetadata,
    })
    messages.push(...((await run.responseMessages) ?? (await run.response).messages))
  }
  if (recording.sentTwice === true) for (const body of bodies) dropRepeated(body as { input?: unknown[] })
  return turns[0]!
}

function dropRepeated(body: { input?: unknown[] }): void {
  const known = new Set<string>()
  body.input = body.input?.filter((item) => !known.has(JSON.stringify(item)) && known.add(JSON.stringify(item)))
}

/** What an agent makes of it. */
export async function byAgent(recording: Recording, version: Version): Promise<Outcome> {
  const { fetch, bodies } = replay(recording.answers.map(bytesOf), contentTypeOf(recording))
  const agent = new Agent({
    model: fromAiSdk(recording.models[version]!(fetch)),
    tools: ownTools(recording, version),
    settings: recording.settings ?? {},
    maxSteps: 5,
    logger: { warn() {}, error() {} },
  })
  const session = agent.session()
  const turns: Outcome[] = []
  for (const input of inputs) {
    const outcome = { ...nothing(), bodies }
    const run = session.run(input)
    for await (const event of run) {
      if (event.type === 'source' && event.cites === undefined) outcome.sources.push(sourceOf(event))
      if (event.type === 'file') outcome.files.push(event.mediaType)
      if (event.type === 'reasoning-delta') outcome.reasoning += event.delta
      if (event.type === 'tool-input-start') outcome.calls.push(event.name)
    }
    const { text, usage, rawFinishReason, providerMetadata, warnings = [] } = await run
    const { inputTokens, outputTokens } = usage
    turns.push({
      ...outcome,
      text,
      usage: { inputTokens, outputTokens },
      rawFinishReason,
      providerMetadata,
      warnings: warnings.length,
    })
  }
  return turns[0]!
}

/** The tools of a recording as an agent has them. */
export function ownTools({ tools }: Recording, version: Version): AnyTool[] {
  return entriesOf(tools?.(version)).map(([name, { id, args, description = '', jsonSchema, execute, ...more }]) => {
    const { providerOptions, strict } = more
    const own = {
      name,
      description,
      ...(execute !== undefined && { execute: execute as NonNullable<AnyTool['execute']> }),
    }
    if (id !== undefined) return { ...own, providerExecuted: { id, args: (args ?? {}) as ToolArgs } }
    return {
      ...own,
      jsonSchema: jsonSchema as ToolDef['jsonSchema'],
      ...(providerOptions !== undefined && { providerOptions }),
      ...(strict !== undefined && { strict }),
    }
  })
}
type ToolArgs = NonNullable<AnyTool['providerExecuted']>['args']

function sdkTools({ tools }: Recording, version: Version, jsonSchema: Sdk['jsonSchema']): object | undefined {
  const entries = entriesOf(tools?.(version))
  if (entries.length === 0) return undefined
  return Object.fromEntries(
    entries.map(([name, { jsonSchema: schema, ...tool }]) => [
      name,
      schema === undefined ? tool : { ...tool, inputSchema: jsonSchema(schema) },
    ]),
  )
}

function entriesOf(tools: Record<string, SdkTool | undefined> = {}): [string, SdkTool][] {
  return Object.entries(tools).filter((entry): entry is [string, SdkTool] => entry[1] !== undefined)
}

function sourceOf({ url, title, filename, mediaType }: Part) {
  return { url, title, filename, mediaType }
}

function nothing(): Omit<Outcome, 'bodies'> {
  return {
    text: '',
    reasoning: '',
    calls: [],
    sources: [],
    files: [],
    usage: {},
    rawFinishReason: undefined,
    providerMetadata: undefined,
    warnings: 0,
  }
}

interface Part {
  type: string
  error?: unknown
  url?: string | undefined
  title?: string | undefined
  filename?: string | undefined
  mediaType?: string | undefined
  file?: { mediaType: string }
  text?: string
  toolName?: string
}
/** What the three have in common. */
interface Sdk {
  jsonSchema(schema: object): object
  stepCountIs(count: number): unknown
  streamText(options: object): {
    fullStream: AsyncIterable<Part>
    text: PromiseLike<string>
    usage: PromiseLike<Tokens>
    totalUsage?: PromiseLike<Tokens>
    rawFinishReason?: PromiseLike<string | undefined>
    providerMetadata: PromiseLike<unknown>
    warnings: PromiseLike<unknown[] | undefined>
    response: PromiseLike<{ messages: unknown[] }>
    responseMessages?: PromiseLike<unknown[]>
  }
}
interface Tokens {
  inputTokens?: number
  outputTokens?: number
}
