/**
 * The missed budgets with their reasons, as text. Budgets with the same reason are listed together.
 *
 * @param {{ title: string, reason?: string }[]} missed
 * @returns {string} empty if none is missed
 * @throws Error for a budget that is missed without a reason
 */
export function missedBudgets(missed) {
  const unexplained = missed.filter(({ reason }) => reason === undefined).map(({ title }) => title)
  if (unexplained.length > 0)
    throw new Error(`No reason is known for a missed budget: ${unexplained.join('; ')}. Meet it, or add its reason.`)
  if (missed.length === 0) return ''
  const reasons = [...new Set(missed.map(({ reason }) => reason))]
  const titlesOf = (reason) => missed.filter((one) => one.reason === reason).map(({ title }) => `- ${title}`)
  return ['Missed, and why:', ...reasons.map((reason) => `${titlesOf(reason).join('\n')}\n  ${reason}`)].join('\n\n')
}
