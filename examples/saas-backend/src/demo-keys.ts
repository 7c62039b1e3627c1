/** The keys of the demo's people. `data/accounts.json` has their digests alone; who serves more than loopback makes their own. */
export const demoKeys = [
  {
    key: 'demo-acme-dana-7c1f2b',
    who: 'Dana, Acme Outdoors',
    what: 'business plan, with refunds that a person approves',
  },
  { key: 'demo-acme-alex-93e0d4', who: 'Alex, Acme Outdoors', what: 'admin of Acme' },
  {
    key: 'demo-globex-hank-51a8c6',
    who: 'Hank, Globex',
    what: 'starter plan: no refunds, a budget that is soon spent',
  },
  { key: 'demo-globex-gina-e27f08', who: 'Gina, Globex', what: 'admin of Globex' },
] as const
