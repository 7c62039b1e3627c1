/** Whom a principal stands for. */
export interface Identity {
  tenantId?: string
  userId?: string
}

/** What is kept of a human's decision, beside the result of its call. */
export interface ApprovalRecord {
  decision: 'approved' | 'denied' | 'edited'
  /** Who decided: from the verified principal, never what a decision says of itself. */
  by?: Identity
  /** Milliseconds since the epoch. */
  at: number
  /** Of edited arguments, where the agent has a secret: tells whether they are those that one has, and nothing else. */
  digest?: string
  /** It was given before, for the same call. */
  remembered?: true
}
