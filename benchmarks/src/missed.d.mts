export function missedBudgets(missed: readonly { readonly title: string; readonly reason?: string }[]): string
