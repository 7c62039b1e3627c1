import type { JsonSchema, ModelContext, TurnContext } from '@allium/core'
import type { Chain } from './chain.ts'
import type { HookContext } from './hook-context.ts'
import { changeCall, pipeConfig, sourceOfCall } from './pipe-config.ts'
import type { RunConfig } from './run-config.ts'

/** The call whose answer must fit the run's `output`. */
export interface StructuredOutputConfig extends RunConfig {
  /** What the model sees as the name of the form, or of the tool that it answers with. */
  readonly name: string
  readonly description: string | undefined
  /** What is sent. A schema of no object stands in one, as its `value`. The answer is checked against the run's own schema. */
  readonly schema: JsonSchema
}
export type StructuredOutputPatch = Partial<Omit<StructuredOutputConfig, 'name'>>

type Form = Pick<StructuredOutputConfig, 'name' | 'description' | 'schema'>

/** Asks the hooks about the form of the answer, where this call has one, and changes the call. */
export async function shapeOutput(chain: Chain, run: HookContext, ctx: ModelContext, turn: TurnContext): Promise<void> {
  const form = formOf(ctx)
  if (form === undefined) return
  const call = sourceOfCall(ctx, turn)
  const source = { ...call, fields: { ...call.fields, ...form } }
  const changes = await pipeConfig<StructuredOutputConfig>(chain, 'onStructuredOutputConfig', run, source)
  if (changes === undefined) return
  changeCall(ctx, turn, changes, call.fields.tools)
  setForm(ctx, { ...form, ...changes, name: form.name })
}

function formOf(ctx: ModelContext): Form | undefined {
  const { responseFormat: format, tools } = ctx.request
  if (format.type === 'json') {
    const { name = 'answer', description, schema = {} } = format
    return { name, description, schema }
  }
  const tool = tools.find(({ name }) => name === ctx.plan.answerTool)
  return tool && { name: tool.name, description: tool.description, schema: tool.jsonSchema }
}

function setForm(ctx: ModelContext, { name, description, schema }: Form): void {
  if (ctx.request.responseFormat.type === 'json')
    ctx.responseFormat = { type: 'json', name, schema, ...(description !== undefined && { description }) }
  else
    ctx.toolDefs = ctx.request.tools.map((tool) =>
      tool.name === name ? { ...tool, description: description ?? tool.description, jsonSchema: schema } : tool,
    )
}
