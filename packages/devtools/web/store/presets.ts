import type { Identity } from './api.ts'

/** A principal and a context under a name. */
export interface Preset {
  name: string
  identity: Identity
}

const key = 'allium:presets'

export function readPresets(): Preset[] {
  try {
    const presets = JSON.parse(localStorage.getItem(key) ?? '[]') as unknown
    return Array.isArray(presets) ? presets.filter(isPreset).slice(0, 20) : []
  } catch {
    return []
  }
}

/** Stores a preset in this browser, and returns all presets. */
export function savePreset(preset: Preset): Preset[] {
  return store([...readPresets().filter(({ name }) => name !== preset.name), preset])
}

export function deletePreset(name: string): Preset[] {
  return store(readPresets().filter((preset) => preset.name !== name))
}

function store(presets: Preset[]): Preset[] {
  localStorage.setItem(key, JSON.stringify(presets))
  return presets
}

function isPreset(value: unknown): value is Preset {
  const { name, identity } = (value ?? {}) as Partial<Preset>
  return typeof name === 'string' && typeof identity?.principal === 'object'
}
