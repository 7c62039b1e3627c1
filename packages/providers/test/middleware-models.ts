import { Agent, type AgentOptions, type Middleware } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { type AiSdkMiddleware, fromAiSdkMiddleware } from '@allium/providers/middleware'
import * as ai7 from 'ai'
import * as ai6 from 'ai-v6'
import { toGenerateResult } from '../src/middleware/generate-result.ts'
import { finishV3, type Written, written } from './written-model.ts'

export const libraries = { 6: ai6 as unknown as typeof ai7, 7: ai7 }
export type Version = keyof typeof libraries

/** A model of either version that answers with each of these streams in turn, whole or in parts. */
export function model(version: Version, ...answers: (object[] | Error)[]): Written {
  let at = 0
  const parts = () => {
    const next = answers[Math.min(at++, answers.length - 1)] as object[] | Error
    if (next instanceof Error) throw next
    return next
  }
  const made: Written = written(version === 6 ? 'v3' : 'v4', [], { supportedUrls: {} })
  return Object.assign(made, {
    async doStream(options: Record<string, unknown>) {
      made.calls.push(options)
      return { stream: ReadableStream.from(parts()) }
    },
    async doGenerate(options: Record<string, unknown>) {
      made.calls.push(options)
      return toGenerateResult(parts() as never)
    },
  })
}

/** One text, cut into pieces. */
export function text(...deltas: string[]): object[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    ...deltas.map((delta) => ({ type: 'text-delta', id: 't', delta })),
    { type: 'text-end', id: 't' },
    finishV3,
  ]
}

const tool = {
  name: 'add',
  description: 'Adds',
  jsonSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  execute: () => 'done',
} as const

export interface Heard {
  text: string
  reasoning: string
  calls: { name: string; args: unknown }[]
}

/** What `streamText` makes of a model behind a middleware. */
export async function byStreamText(version: Version, made: Written, middleware: AiSdkMiddleware): Promise<Heard> {
  const { streamText, wrapLanguageModel, jsonSchema } = libraries[version]
  const wrapped = wrapLanguageModel({ model: made as never, middleware: middleware as never })
  const result = streamText({
    model: wrapped,
    prompt: 'hello',
    maxRetries: 0,
    tools: { add: { description: tool.description, inputSchema: jsonSchema(tool.jsonSchema as never) } },
    onError() {},
  })
  const calls = (await result.toolCalls).map(({ toolName, input }) => ({ name: toolName, args: input as unknown }))
  return { text: await result.text, reasoning: (await result.reasoningText) ?? '', calls }
}

export const silent = { warn() {}, error() {} }

export function agentOf(made: Written, ...layers: (AiSdkMiddleware | Middleware)[]): Agent {
  const options: AgentOptions = { model: fromAiSdk(made), tools: [tool], maxSteps: 1, logger: silent }
  const agent = new Agent(options)
  layers.forEach((layer, at) => {
    agent.use('name' in layer ? layer : fromAiSdkMiddleware(layer as AiSdkMiddleware, { as: `ai-sdk-${at}` }))
  })
  return agent
}

/** What an agent makes of the same. */
export async function byAllium(made: Written, ...layers: (AiSdkMiddleware | Middleware)[]): Promise<Heard> {
  const heard: Heard = { text: '', reasoning: '', calls: [] }
  const run = agentOf(made, ...layers).run('hello')
  const inputs = new Map<string, { name: string; json: string }>()
  for await (const event of run) {
    if (event.type === 'model:reset') Object.assign(heard, { text: '', reasoning: '' })
    if (event.type === 'text-delta') heard.text += event.delta
    if (event.type === 'reasoning-delta') heard.reasoning += event.delta
    if (event.type === 'tool-input-start') inputs.set(event.callId, { name: event.name, json: '' })
    if (event.type === 'tool-input-delta') (inputs.get(event.callId) as { json: string }).json += event.delta
  }
  heard.calls = [...inputs.values()].map(({ name, json }) => ({ name, args: JSON.parse(json) as unknown }))
  const { text } = await run
  if (text !== heard.text) throw new Error(`Streamed ${heard.text}, answered ${text}`)
  return heard
}
