/** The tenant and user of a principal. */
export interface Identity {
  tenantId?: string
  userId?: string
}

/** A human's decision, as stored with the result of its call. */
export interface ApprovalRecord {
  decision: 'approved' | 'denied' | 'edited'
  /** The approver, from the verified principal. Never from the decision itself. */
  by?: Identity
  /** Milliseconds since the epoch. */
  at: number
  /** For edited arguments, if the agent has a secret: a keyed digest, which only proves whether given arguments are the same. */
  digest?: string
  /** The decision comes from an earlier approval of the same call. */
  remembered?: true
}
