export interface Order {
  readonly number: string
  readonly item: string
  /** In cents. */
  readonly price: number
  readonly status: 'delivered' | 'on its way' | 'being packed'
  /** The day of the delivery. */
  readonly day?: string
  /** For colleagues only. */
  readonly note?: string
}

const list: readonly Order[] = [
  { number: '1001', item: 'desk lamp', price: 4900, status: 'delivered' },
  { number: '1002', item: 'office chair', price: 18900, status: 'delivered' },
  { number: '1003', item: 'standing desk', price: 54900, status: 'delivered' },
  { number: '1004', item: 'notebook set', price: 1900, status: 'on its way', day: '4 May' },
  { number: '1005', item: 'monitor', price: 32900, status: 'on its way', day: '5 May' },
  { number: '1006', item: 'headphones', price: 12900, status: 'delivered', note: 'Returned three orders this year.' },
  { number: '1007', item: 'coffee grinder', price: 7900, status: 'being packed', day: '9 May' },
  { number: '1008', item: 'espresso machine', price: 69900, status: 'delivered' },
  { number: '1009', item: 'backpack', price: 8900, status: 'on its way', day: '6 May' },
  { number: '1010', item: 'rain jacket', price: 14900, status: 'delivered' },
  { number: '1011', item: 'bookshelf', price: 23900, status: 'delivered' },
  {
    number: '1012',
    item: 'tea set',
    price: 3900,
    status: 'being packed',
    day: '12 May',
    note: 'The supplier is late.',
  },
  { number: '1013', item: 'keyboard', price: 9900, status: 'delivered' },
  { number: '1014', item: 'tablet', price: 45900, status: 'delivered', note: 'Flagged: paid with a gift card.' },
  { number: '1015', item: 'camera', price: 89900, status: 'on its way', day: '8 May' },
  { number: '1016', item: 'toaster', price: 3500, status: 'delivered' },
  { number: '1017', item: 'sofa', price: 129900, status: 'delivered' },
  { number: '1018', item: 'yoga mat', price: 2900, status: 'on its way', day: '7 May' },
  { number: '1019', item: 'bicycle', price: 99900, status: 'being packed', day: '14 May' },
  { number: '1020', item: 'vase', price: 2500, status: 'delivered', note: 'The last one of its batch.' },
]

export function orderOf(number: string): Order | undefined {
  return list.find((order) => order.number === number)
}
