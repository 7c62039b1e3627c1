/** The tenant that a principal belongs to: its `tenantId`, else its `tenant`. Approvals and store keys carry it. */
export function tenantOf(principal: unknown): string | undefined {
  if (typeof principal !== 'object' || principal === null) return undefined
  const { tenantId, tenant } = principal as { tenantId?: unknown; tenant?: unknown }
  for (const id of [tenantId, tenant])
    if ((typeof id === 'string' && id !== '') || typeof id === 'number') return String(id)
  return undefined
}
