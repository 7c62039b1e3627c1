import type { Message, ModelRef, Settings, ToolChoice, ToolDef } from '@allium/core'

/** What a run sends, or one call of it. The settings stand in it twice: as `settings`, and each by its own name. */
export interface RunConfig extends Readonly<Settings> {
  /** Its id, or the model that a hook gave. */
  readonly model: ModelRef
  readonly instructions: string | undefined
  /** Without the instructions. */
  readonly messages: readonly Readonly<Message>[]
  /** May be left out or described anew. Tools are added to the agent, not here. */
  readonly tools: readonly ToolDef[]
  readonly toolChoice: ToolChoice
  readonly maxSteps: number
  readonly settings: Readonly<Settings>
}

/** What a hook changes of it. Settings, together or by their own names, are merged one by one; all else is replaced. */
export type RunPatch = Partial<RunConfig>

/** What several hooks have changed, without what they only repeated. */
export type Changes<Config extends RunConfig = RunConfig> = Partial<Omit<Config, keyof Settings>>

/** Where a config comes from. Messages and instructions are read when a hook does. */
export interface Source<Config extends RunConfig = RunConfig> {
  readonly fields: Omit<Config, keyof Settings | 'messages' | 'instructions' | 'settings'>
  readonly settings: Readonly<Settings>
  messages(): RunConfig['messages']
  instructions(): string | undefined
}

/** The config as a hook sees it: frozen, because a change that is written into it and not given back would be lost. */
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

/** Adds a patch to the changes. What it only repeats, as `{ ...config, temperature: 1 }` does, changes nothing. */
export function withPatch<Config extends RunConfig>(
  changes: Changes<Config>,
  now: Config,
  patch: Partial<Config>,
): Changes<Config> {
  const { settings, ...rest } = patch
  // Instructions and settings may be taken away; of all else there is always something.
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
