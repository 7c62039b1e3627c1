import type { JsonSchema, Message, ModelRef, Settings, ToolChoice, ToolDef } from '@allium/core'

/** The config of a run or of one call. Settings are in it twice: as `settings`, and each under its own name. */
export interface RunConfig extends Readonly<Settings> {
  /** The model's id, or the model that a hook returned. */
  readonly model: ModelRef
  readonly instructions: string | undefined
  /** Without the instructions. */
  readonly messages: readonly Readonly<Message>[]
  /** Tools can be left out or described differently. New tools are added to the agent, not here. */
  readonly tools: readonly ToolDef[]
  readonly toolChoice: ToolChoice
  readonly maxSteps: number
  readonly settings: Readonly<Settings>
}

/** A hook's changes. Settings, together or by their own names, are merged one by one; all else is replaced. */
export type RunPatch = Partial<RunConfig>

/** The config of a call whose answer must match the run's `output`. */
export interface StructuredOutputConfig extends RunConfig {
  /** The name of the output format, or of the answer tool, that the model sees. */
  readonly name: string
  readonly description: string | undefined
  /** The schema that is sent. A schema of a non-object is wrapped as `value`. The answer is validated against the run's own schema. */
  readonly schema: JsonSchema
}
export type StructuredOutputPatch = Partial<Omit<StructuredOutputConfig, 'name'>>

/** The changes of several hooks, without repeated values. */
export type Changes<Config extends RunConfig = RunConfig> = Partial<Omit<Config, keyof Settings>>

/** The source of a config. Messages and instructions are computed when a hook reads them. */
export interface Source<Config extends RunConfig = RunConfig> {
  readonly fields: Omit<Config, keyof Settings | 'messages' | 'instructions' | 'settings'>
  readonly settings: Readonly<Settings>
  messages(): RunConfig['messages']
  instructions(): string | undefined
}

/** Returns the config for a hook. It is frozen, because a change that is not returned would be lost. */
export function configOf<Config extends RunConfig>(source: Source<Config>, changes: Changes<Config>): Config {
  const settings = Object.freeze({ ...source.settings, ...changes.settings })
  return Object.freeze({
    ...settings,
    ...source.fields,
    get messages() {
      return source.messages()
    },
    get instructions() {
      return source.instructions()
    },
    ...changes,
    settings,
  }) as Config // every field is in one of the parts
}

/** Adds a patch to the changes. Repeated values, as in `{ ...config, temperature: 1 }`, are not changes. */
export function withPatch<Config extends RunConfig>(
  changes: Changes<Config>,
  now: Config,
  patch: Partial<Config>,
): Changes<Config> {
  const { settings, ...rest } = patch
  // Instructions and settings can be removed; all other fields are required.
  const isNew = ([key, value]: [string, unknown]) =>
    value !== now[key as keyof Config] && (value !== undefined || key === 'instructions' || isSetting(key))
  const definedFields = Object.entries(rest).filter(isNew)
  return {
    ...changes,
    ...Object.fromEntries(definedFields.filter(([key]) => !isSetting(key))),
    settings: {
      ...changes.settings,
      ...Object.fromEntries(Object.entries(settings ?? {}).filter(isNew)),
      ...Object.fromEntries(definedFields.filter(([key]) => isSetting(key))),
    },
  }
}

const settings: Record<keyof Settings, true> = {
  temperature: true,
  topP: true,
  maxOutputTokens: true,
  stop: true,
  seed: true,
  reasoning: true,
  providerOptions: true,
  headers: true,
}
export const settingNames = Object.keys(settings)
export const isSetting = (key: string): boolean => Object.hasOwn(settings, key)
