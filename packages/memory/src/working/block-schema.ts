import { messageOf, misconfigured } from '@allium/core'
import { isRecord, jsonSchemaOf } from '@allium/core/internal'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Block } from './stored-block.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** A change that the model proposes: fields to set, and names of fields to remove. */
export interface BlockPatch {
  readonly set?: unknown
  readonly remove?: unknown
}

/** The schema of a block, for the tool and for checking changes. */
export class BlockSchema {
  readonly #schema: StandardSchemaV1
  readonly #json: JsonSchema
  readonly #fields: JsonSchema
  readonly #maxBytes: number

  /** @throws AlliumError `layer.config` if the schema is not one of an object with fields */
  constructor(layer: string, schema: StandardSchemaV1, jsonSchema: object | undefined, maxBytes: number) {
    if (schema?.['~standard']?.validate === undefined)
      throw misconfigured(layer, 'needs a Standard Schema, such as z.object({ … }) of zod, as "schema".')
    this.#schema = schema
    this.#json = (jsonSchema as JsonSchema | undefined) ?? jsonSchemaOf(schema, `"${layer}"`, 'layer.config')
    const { properties } = this.#json
    if (!isRecord(properties) || Object.keys(properties).length === 0)
      throw misconfigured(
        layer,
        'needs the schema of an object with fields, such as z.object({ name: z.string().optional() }).',
      )
    this.#fields = properties
    this.#maxBytes = maxBytes
  }

  /** @throws AlliumError `layer.config` if an empty block is invalid, because every block begins empty */
  async checkEmpty(layer: string): Promise<void> {
    const problem = await this.#problemOf({})
    if (problem !== undefined)
      throw misconfigured(layer, `has a schema that an empty block does not fit: ${problem}. Make its fields optional.`)
  }

  /** The JSON Schema of the tool's arguments. */
  get toolSchema(): JsonSchema {
    const { $defs, definitions } = this.#json
    return {
      ...($defs !== undefined && { $defs }),
      ...(definitions !== undefined && { definitions }),
      type: 'object',
      properties: {
        set: {
          type: 'object',
          description: 'The fields to write. Each replaces its earlier value.',
          properties: this.#fields,
          additionalProperties: false,
        },
        remove: {
          type: 'array',
          description: 'The names of fields to remove',
          items: { type: 'string', enum: Object.keys(this.#fields) },
        },
      },
      additionalProperties: false,
    }
  }

  /** The JSON Schema of each field. */
  get fields(): JsonSchema {
    return this.#fields
  }

  /** The fields that the schema has. A block may have others from before a deployment. */
  known(block: Block): Block {
    return Object.fromEntries(Object.entries(block).filter(([name]) => Object.hasOwn(this.#fields, name)))
  }

  /** Returns the changed block, or the problem with the change. */
  async patch(block: Block, { set = {}, remove = [] }: BlockPatch): Promise<Block | string> {
    if (!isRecord(set) || !Array.isArray(remove)) return '"set" must be an object and "remove" a list of names'
    const unknown = [...Object.keys(set), ...remove].find((name) => !Object.hasOwn(this.#fields, String(name)))
    if (unknown !== undefined)
      return `it has no field ${JSON.stringify(String(unknown).slice(0, 100))}. Its fields are ${Object.keys(this.#fields).join(', ')}`
    const kept = Object.entries({ ...this.known(block), ...set }).filter(([name]) => !remove.includes(name))
    const next = Object.fromEntries(kept)
    const { length } = new TextEncoder().encode(JSON.stringify(next))
    if (length > this.#maxBytes)
      return `it would have ${length} bytes, and ${this.#maxBytes} are the maximum. Shorten or remove a field`
    return (await this.#problemOf(next)) ?? next
  }

  async #problemOf(block: Block): Promise<string | undefined> {
    try {
      const { issues } = await this.#schema['~standard'].validate(block)
      return issues?.map(({ message, path = [] }) => `${path.map(keyOf).join('.')}: ${message}`).join('; ')
    } catch (error) {
      return messageOf(error)
    }
  }
}

function keyOf(part: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof part === 'object' ? part.key : part)
}
