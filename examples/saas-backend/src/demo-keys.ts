/** The API keys of the demo users. `data/accounts.json` has only their digests. Create your own keys before you serve more than localhost. */
export const demoKeys = [
  {
    key: 'demo-acme-dana-7c1f2b',
    who: 'Dana, Acme Outdoors',
    what: 'business plan; refunds need approval',
  },
  { key: 'demo-acme-alex-93e0d4', who: 'Alex, Acme Outdoors', what: 'admin of Acme' },
  {
    key: 'demo-globex-hank-51a8c6',
    who: 'Hank, Globex',
    what: 'starter plan; no refunds, and a small budget',
  },
  { key: 'demo-globex-gina-e27f08', who: 'Gina, Globex', what: 'admin of Globex' },
] as const
