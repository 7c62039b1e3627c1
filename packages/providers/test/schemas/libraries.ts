import type { OutputOption } from '@allium/core'
import { Type as OldType } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { scope, type } from 'arktype'
import * as Effect from 'effect/Effect'
import * as Schema from 'effect/Schema'
import * as JSONSchema from 'effect-v3/JSONSchema'
import * as EffectSchema from 'effect-v3/Schema'
import Joi from 'joi'
import * as S from 'sury'
import { Type } from 'typebox'
import * as v from 'valibot'
import * as yup from 'yup'
import { z } from 'zod'
import * as mini from 'zod/mini'

type Form = Exclude<OutputOption, { '~standard': unknown }>

/** One schema of each kind, as an answer and as the arguments of a tool. */
export interface Library {
  readonly name: string
  /** Its name in the catalog of pnpm-workspace.yaml; empty for no package. @default the name */
  readonly installed?: string
  /** What to write in a tool, or in `output`. */
  readonly forms: Readonly<Record<Kind, Form>>
}

/** The kinds, each with a value. The last has a reference at its root in most libraries. */
export const values = {
  object: { city: 'Oslo', note: 'cold' },
  optional: { city: 'Oslo' },
  default: { city: 'Oslo', note: 'none' },
  variants: { kind: 'b', size: 2 },
  tuple: { at: ['Oslo', 4] },
  recursive: { name: 'a', children: [{ name: 'b', children: [] }] },
} as const
export type Kind = keyof typeof values

/** A JSON Schema for a library that makes none. */
const written = {
  object: objectOf({ city: { type: 'string' }, note: { type: 'string' } }, ['city', 'note']),
  optional: objectOf({ city: { type: 'string' }, note: { type: 'string' } }, ['city']),
  default: objectOf({ city: { type: 'string' }, note: { type: 'string', default: 'none' } }, ['city']),
  variants: {
    anyOf: [
      objectOf({ kind: { const: 'a' }, name: { type: 'string' } }, ['kind', 'name']),
      objectOf({ kind: { const: 'b' }, size: { type: 'number' } }, ['kind', 'size']),
    ],
  },
  tuple: objectOf({ at: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } }, ['at']),
  recursive: objectOf({ name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } }, [
    'name',
    'children',
  ]),
}

function objectOf(properties: object, required: readonly string[]) {
  return { type: 'object', properties, required }
}

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})
const miniTree = mini.object({
  name: mini.string(),
  get children() {
    return mini.array(miniTree)
  },
})
interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
}
interface OpenTree {
  name: string
  children: OpenTree[]
}
const valibotTree: v.GenericSchema<OpenTree> = v.object({
  name: v.string(),
  children: v.array(v.lazy(() => valibotTree)),
})
const effectTree = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => effectTree)),
}).annotate({ identifier: 'Tree' })
const oldEffectTree = EffectSchema.Struct({
  name: EffectSchema.String,
  children: EffectSchema.Array(EffectSchema.suspend((): EffectSchema.Schema<Tree> => oldEffectTree)),
}).annotations({ identifier: 'Tree' })
const yupTree: yup.Schema = yup.object({ name: yup.string().required(), children: yup.array(yup.lazy(() => yupTree)) })

S.enableStandardJSONSchema()

export const libraries: readonly Library[] = [
  {
    name: 'zod',
    forms: {
      object: { schema: z.object({ city: z.string(), note: z.string() }) },
      optional: { schema: z.object({ city: z.string(), note: z.string().optional() }) },
      default: { schema: z.object({ city: z.string(), note: z.string().default('none') }) },
      variants: {
        schema: z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('a'), name: z.string() }),
          z.object({ kind: z.literal('b'), size: z.number() }),
        ]),
      },
      tuple: { schema: z.object({ at: z.tuple([z.string(), z.number()]) }) },
      recursive: { schema: tree.meta({ id: 'Tree' }) },
    },
  },
  {
    name: 'zod/mini',
    installed: 'zod',
    forms: {
      object: ofMini(mini.object({ city: mini.string(), note: mini.string() })),
      optional: ofMini(mini.object({ city: mini.string(), note: mini.optional(mini.string()) })),
      default: ofMini(mini.object({ city: mini.string(), note: mini._default(mini.string(), 'none') })),
      variants: ofMini(
        mini.union([
          mini.object({ kind: mini.literal('a'), name: mini.string() }),
          mini.object({ kind: mini.literal('b'), size: mini.number() }),
        ]),
      ),
      tuple: ofMini(mini.object({ at: mini.tuple([mini.string(), mini.number()]) })),
      recursive: ofMini(miniTree),
    },
  },
  {
    name: 'valibot',
    forms: {
      object: ofValibot(v.object({ city: v.string(), note: v.string() })),
      optional: ofValibot(v.object({ city: v.string(), note: v.optional(v.string()) })),
      default: ofValibot(v.object({ city: v.string(), note: v.optional(v.string(), 'none') })),
      variants: ofValibot(
        v.variant('kind', [
          v.object({ kind: v.literal('a'), name: v.string() }),
          v.object({ kind: v.literal('b'), size: v.number() }),
        ]),
      ),
      tuple: ofValibot(v.object({ at: v.tuple([v.string(), v.number()]) })),
      recursive: ofValibot(valibotTree),
    },
  },
  {
    name: 'arktype',
    forms: {
      object: { schema: type({ city: 'string', note: 'string' }) },
      optional: { schema: type({ city: 'string', 'note?': 'string' }) },
      default: { schema: type({ city: 'string', note: 'string = "none"' }) },
      variants: { schema: type({ kind: '"a"', name: 'string' }).or({ kind: '"b"', size: 'number' }) },
      tuple: { schema: type({ at: ['string', 'number'] }) },
      recursive: { schema: scope({ node: { name: 'string', children: 'node[]' } }).export().node },
    },
  },
  {
    name: 'effect 4',
    installed: 'effect',
    forms: {
      object: ofEffect(Schema.Struct({ city: Schema.String, note: Schema.String })),
      optional: ofEffect(Schema.Struct({ city: Schema.String, note: Schema.optionalKey(Schema.String) })),
      default: ofEffect(
        Schema.Struct({
          city: Schema.String,
          note: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed('none'))),
        }),
      ),
      variants: ofEffect(
        Schema.Union([
          Schema.Struct({ kind: Schema.Literal('a'), name: Schema.String }),
          Schema.Struct({ kind: Schema.Literal('b'), size: Schema.Finite }),
        ]),
      ),
      tuple: ofEffect(Schema.Struct({ at: Schema.Tuple([Schema.String, Schema.Finite]) })),
      recursive: ofEffect(effectTree),
    },
  },
  {
    name: 'effect 3',
    installed: 'effect-v3',
    forms: {
      object: ofOldEffect(EffectSchema.Struct({ city: EffectSchema.String, note: EffectSchema.String })),
      optional: ofOldEffect(
        EffectSchema.Struct({ city: EffectSchema.String, note: EffectSchema.optional(EffectSchema.String) }),
      ),
      default: ofOldEffect(
        EffectSchema.Struct({
          city: EffectSchema.String,
          note: EffectSchema.optionalWith(EffectSchema.String, { default: () => 'none' }),
        }),
      ),
      variants: ofOldEffect(
        EffectSchema.Union(
          EffectSchema.Struct({ kind: EffectSchema.Literal('a'), name: EffectSchema.String }),
          EffectSchema.Struct({ kind: EffectSchema.Literal('b'), size: EffectSchema.Number }),
        ),
      ),
      tuple: ofOldEffect(EffectSchema.Struct({ at: EffectSchema.Tuple(EffectSchema.String, EffectSchema.Number) })),
      recursive: ofOldEffect(oldEffectTree),
    },
  },
  {
    name: 'sury',
    forms: {
      object: { schema: S.schema({ city: S.string, note: S.string }) },
      optional: { schema: S.schema({ city: S.string, note: S.optional(S.string) }) },
      default: { schema: S.schema({ city: S.string, note: S.optional(S.string, 'none') }) },
      variants: {
        schema: S.union([
          { kind: 'a' as const, name: S.string },
          { kind: 'b' as const, size: S.number },
        ]),
      },
      tuple: { schema: S.schema({ at: S.schema([S.string, S.number]) }) },
      recursive: {
        schema: S.recursive<Tree, Tree>('Tree', (one) => S.schema({ name: S.string, children: S.array(one) })),
      },
    },
  },
  {
    name: 'joi',
    forms: {
      object: ofJoi({ city: Joi.string().required(), note: Joi.string().required() }),
      optional: ofJoi({ city: Joi.string().required(), note: Joi.string() }),
      default: ofJoi({ city: Joi.string().required(), note: Joi.string().default('none') }),
      variants: {
        schema: Joi.alternatives(
          Joi.object({ kind: Joi.valid('a').required(), name: Joi.string().required() }),
          Joi.object({ kind: Joi.valid('b').required(), size: Joi.number().required() }),
        ),
      },
      tuple: ofJoi({ at: Joi.array().ordered(Joi.string().required(), Joi.number().required()).required() }),
      recursive: {
        schema: Joi.object({
          name: Joi.string().required(),
          children: Joi.array().items(Joi.link('#tree')).required(),
        }).id('tree'),
      },
    },
  },
  {
    name: 'yup',
    forms: {
      object: ofYup('object', yup.object({ city: yup.string().required(), note: yup.string().required() })),
      optional: ofYup('optional', yup.object({ city: yup.string().required(), note: yup.string() })),
      default: ofYup('default', yup.object({ city: yup.string().required(), note: yup.string().default('none') })),
      variants: ofYup(
        'variants',
        yup.object({ kind: yup.string().oneOf(['a', 'b']).required(), name: yup.string(), size: yup.number() }),
      ),
      tuple: ofYup(
        'tuple',
        yup.object({ at: yup.tuple([yup.string().required(), yup.number().required()]).required() }),
      ),
      recursive: ofYup('recursive', yupTree),
    },
  },
  {
    name: 'typebox',
    forms: {
      object: { jsonSchema: Type.Object({ city: Type.String(), note: Type.String() }) },
      optional: { jsonSchema: Type.Object({ city: Type.String(), note: Type.Optional(Type.String()) }) },
      default: { jsonSchema: Type.Object({ city: Type.String(), note: Type.String({ default: 'none' }) }) },
      variants: {
        jsonSchema: Type.Union([
          Type.Object({ kind: Type.Literal('a'), name: Type.String() }),
          Type.Object({ kind: Type.Literal('b'), size: Type.Number() }),
        ]),
      },
      tuple: { jsonSchema: Type.Object({ at: Type.Tuple([Type.String(), Type.Number()]) }) },
      recursive: {
        jsonSchema: Type.Cyclic(
          { Tree: Type.Object({ name: Type.String(), children: Type.Array(Type.Ref('Tree')) }) },
          'Tree',
        ),
      },
    },
  },
  {
    name: '@sinclair/typebox',
    forms: {
      object: { jsonSchema: OldType.Object({ city: OldType.String(), note: OldType.String() }) },
      optional: { jsonSchema: OldType.Object({ city: OldType.String(), note: OldType.Optional(OldType.String()) }) },
      default: { jsonSchema: OldType.Object({ city: OldType.String(), note: OldType.String({ default: 'none' }) }) },
      variants: {
        jsonSchema: OldType.Union([
          OldType.Object({ kind: OldType.Literal('a'), name: OldType.String() }),
          OldType.Object({ kind: OldType.Literal('b'), size: OldType.Number() }),
        ]),
      },
      tuple: { jsonSchema: OldType.Object({ at: OldType.Tuple([OldType.String(), OldType.Number()]) }) },
      recursive: {
        jsonSchema: OldType.Recursive((one) =>
          OldType.Object({ name: OldType.String(), children: OldType.Array(one) }),
        ),
      },
    },
  },
  { name: 'a raw JSON Schema', installed: '', forms: mapKinds((kind) => ({ jsonSchema: written[kind] })) },
]

function mapKinds(make: (kind: Kind) => Form): Record<Kind, Form> {
  return Object.fromEntries(Object.keys(values).map((kind) => [kind, make(kind as Kind)])) as Record<Kind, Form>
}

function ofMini(schema: mini.ZodMiniType): Form {
  return { schema, jsonSchema: z.toJSONSchema(schema, { io: 'input' }) }
}

function ofValibot(schema: v.GenericSchema): Form {
  return { schema: toStandardJsonSchema(schema) }
}

function ofEffect(schema: Schema.Codec<unknown, unknown>): Form {
  return { schema: Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(Schema.toCodecJson(schema))) }
}

function ofOldEffect<A, I>(schema: EffectSchema.Schema<A, I>): Form {
  return { schema: EffectSchema.standardSchemaV1(schema), jsonSchema: JSONSchema.make(schema) }
}

function ofJoi(fields: Joi.SchemaMap): Form {
  return { schema: Joi.object(fields) }
}

function ofYup(kind: Kind, schema: yup.Schema): Form {
  return { schema, jsonSchema: written[kind] }
}
