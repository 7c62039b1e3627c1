import type { ModelContext, TurnView } from '@allium/core'
import type { Chain } from './chain.ts'
import type { HookContext } from './hook-context.ts'
import { changeCall, pipeConfig, sourceOfCall } from './pipe-config.ts'
import type { StructuredOutputConfig } from './run-config.ts'

type Form = Pick<StructuredOutputConfig, 'name' | 'description' | 'schema'>

/** Calls the hooks for the output format, if this call has one, and changes the call. */
export async function shapeOutput(chain: Chain, run: HookContext, ctx: ModelContext, turn: TurnView): Promise<void> {
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
