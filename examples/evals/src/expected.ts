/** What a case expects. */
export interface Expected {
  /** The tools, in order. */
  readonly calls: readonly string[]
  /** The cents that are refunded. */
  readonly refund?: number
  /** The tool whose call the policy must deny. */
  readonly denied?: string
  /** Parts of the answer. */
  readonly says?: readonly string[]
  /** Texts that must not be in the answer. */
  readonly hides?: readonly string[]
}
