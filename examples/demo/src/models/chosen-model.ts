import type { Model } from 'allium'

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>

export interface ChosenModel {
  model: Model
  /** Why this model was chosen, for the screen. */
  why: string
  close(): Promise<void>
}
