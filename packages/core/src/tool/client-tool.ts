import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError, isAlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { checkOptions, keysOf } from '../errors/known-options.ts'
import { cloneJson, isRecord } from '../messages/json.ts'
import type { ToolDef } from '../model/model.ts'
import type { ReadUntrustedSchema, Validate } from '../ports/validate.ts'
import type { AnyTool, ToolExecution } from './tool.ts'
import { serialize, toolResult } from './tool-result.ts'

const ofClient = /* @__PURE__ */ keysOf<Omit<ToolDef, 'providerExecuted'>>()(
  'name description jsonSchema providerOptions strict',
)
const elsewhere = { 'execute requireApproval': 'The client runs it: its call waits for the result.' }

/** OpenAI's limit per request. */
export const maxClientTools = 128

/** The agent's schema checks, and its warnings. */
interface SchemaHost {
  readonly setup: {
    readonly untrustedSchema?: ReadUntrustedSchema | undefined
    readonly validate?: Validate | undefined
  }
  warnOnce(key: string, message: string): void
}

const ofClients = new WeakSet<object>()

/**
 * Makes a tool that the client of a run executes. Its call is suspended until `resume()` passes the result.
 * The schema comes from the client, so only `untrustedSchema` checks it, never `validate`.
 *
 * @throws AlliumError `schema.limits`
 */
export async function clientTool(def: ToolDef, agent: SchemaHost): Promise<AnyTool> {
  if (typeof def !== 'object' || def === null) return def
  const { name, description, jsonSchema, providerOptions, strict } = def
  checkOptions(def, ofClient, `The client tool ${describe(name)}`, 'tool.invalid', elsewhere)
  const tool: AnyTool = {
    name,
    description,
    ...(isRecord(jsonSchema) && { jsonSchema, schema: await schemaOf(def, agent) }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(strict !== undefined && { strict }),
    // The client's results come from outside, and the arguments are sent to it.
    flow: { untrusted: true, sends: true },
    execute(_: unknown, ctx: ToolExecution) {
      const { approval } = ctx
      if (approval === undefined || !('result' in approval)) return ctx.suspend()
      const { result, isError = false } = approval
      if (!isError) return result
      return toolResult({ content: serialize(result), isError })
    },
  }
  ofClients.add(tool)
  return tool
}

/** Whether the client runs the tool. */
export function isClientTool(tool: object | undefined): boolean {
  return tool !== undefined && ofClients.has(tool)
}

async function schemaOf({ name, jsonSchema }: ToolDef, agent: SchemaHost): Promise<StandardSchemaV1> {
  const { untrustedSchema, validate } = agent.setup
  if (untrustedSchema === undefined) {
    if (validate !== undefined) agent.warnOnce('client-tools', notChecked)
    return anything
  }
  try {
    const schema = await untrustedSchema(jsonSchema)
    const { unchecked } = schema
    if (unchecked.length > 0)
      agent.warnOnce(
        `client-tool:${name}:${unchecked[0]}`,
        partlyChecked(`of the client's tool ${describe(name)}`, unchecked),
      )
    return schema
  } catch (error) {
    if (!isAlliumError(error)) throw error
    throw new AlliumError(error.code, `The schema of the client's tool ${describe(name)} is refused. ${error.message}`)
  }
}

/** Accepts any arguments: only the model sees the JSON Schema. */
const anything: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'allium', validate: (value) => ({ value: cloneJson(value) }) },
}

const notChecked =
  'Arguments of client tools are not checked. Give the agent `untrustedSchema` of @allium/shared/json-schema.'

/** The warning for a schema with parts that are not checked. */
export function partlyChecked(which: string, unchecked: readonly string[]): string {
  const more = unchecked.length > 5 ? `, and ${unchecked.length - 5} more` : ''
  return `The schema ${which} is checked in part. The model reads these parts, too: ${unchecked.slice(0, 5).join('; ')}${more}.`
}
