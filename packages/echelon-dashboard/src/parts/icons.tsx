/** Icons of 16 by 16, drawn with the colour of the text; they stand beside words and have none of their own. */
const PATHS: Record<string, string> = {
  pulse: 'M1.5 8h3l2-5 3 10 2-5h3',
  list: 'M5.5 4h9M5.5 8h9M5.5 12h9M2 4h.01M2 8h.01M2 12h.01',
  grid: 'M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z',
  queue: 'M2 4h8M2 8h12M2 12h5',
  server: 'M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.8h.01M5 11.3h.01',
  plus: 'M8 3v10M3 8h10',
  check: 'M8 1.8l5 2v4c0 3-2 5.300-5 6.400-3-1.100-5-3.400-5-6.400v-4zM5.700 7.800l1.700 1.700 3-3.200',
  compare: 'M2 12l3.500-5 3 3 5.500-7M2 7l4-3 3 4 5 3',
  rule: 'M3 14V2.500h8.500l-2 3 2 3H3',
  bell: 'M3.500 11.500h9c-1-1-1.500-2-1.500-4.500a3 3 0 00-6 0c0 2.500-.5 3.500-1.500 4.500zM6.800 13.500h2.400M8 4V2.500',
  key: 'M6 10.500a3.500 3.500 0 110-5 3.500 3.500 0 010 5zM7 8h7.500v2.500M12 8v2',
  gear: 'M8 5.700a2.300 2.300 0 100 4.600 2.300 2.300 0 000-4.600zM8 1.500v2M8 12.500v2M1.500 8h2M12.500 8h2M3.400 3.400l1.400 1.400M11.200 11.200l1.400 1.400M3.400 12.600l1.400-1.400M11.200 4.800l1.400-1.400',
  user: 'M8 8a2.700 2.700 0 100-5.400A2.700 2.700 0 008 8zM2.800 14c.5-2.500 2.500-4 5.200-4s4.700 1.500 5.200 4',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  close: 'M3.500 3.500l9 9M12.500 3.500l-9 9',
};

export function Icon({ name }: { name: string }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
