// What is measured: rooms x seats x rate and how, as options of room_load.
'use strict';

// The seats' phases: spread over the step, or all at once.
const PHASES = ['spread', 'step'];
const SHAPES = [[8, 4, 60], [64, 8, 60], [250, 4, 60], [16, 16, 240],
                [1000, 2, 60]];
const IDLE_COUNTS = [2_000, 20_000];

// Descriptors that a process needs for anything else.
const DESCRIPTORS_LEFT = 100;

const shaped = ([rooms, seats, rate], phases) => ({
  name: `${rooms}x${seats}x${rate}-${phases}`,
  title: `${rooms} rooms × ${seats} seats × ${rate} Hz, ` +
         (phases === 'spread' ? 'phases spread' : 'in step'),
  kind: 'load',
  options: ['--rooms', rooms, '--seats', seats, '--rate', rate,
            '--phases', phases],
});

const closed = (name, title, rooms, seats) => ({
  name,
  title,
  kind: 'load',
  options: ['--rooms', rooms, '--seats', seats, '--loop', 'closed'],
});

// With no more connections than one process may have descriptors.
function idle(count, descriptors) {
  const connections =
    Math.min(count, Math.max(descriptors - DESCRIPTORS_LEFT, 2)) & ~1;
  return {
    name: `idle-${count}`,
    title: `${connections} idle seated connections` +
           (connections < count
             ? ` (${count} were wanted; this process may open ${descriptors} ` +
               'files)'
             : ''),
    kind: 'idle',
    options: ['--seats', 2, '--idle', connections],
  };
}

// In the order in which they are run. `descriptors`: how many a process may
// have.
function fullScenarios(descriptors) {
  return [
    ...SHAPES.flatMap((shape) => PHASES.map((phase) => shaped(shape, phase))),
    closed('16x8-closed', '16 rooms × 8 seats, closed loop', 16, 8),
    closed('2x2-round-trip', '2 rooms × 2 seats, closed loop: a round trip',
           2, 2),
    ...IDLE_COUNTS.map((count) => idle(count, descriptors)),
    {
      name: 'worst-pipes',
      title: 'one process over memory pipes, no kernel in the way',
      kind: 'pipes',
      filter: 'relay/worst',
    },
  ];
}

// For CI: shows that everything runs, and judges no time.
const QUICK_SCENARIOS = [shaped([4, 4, 60], 'spread')];

// Those that `names` chooses, each by its name or what stands before a dash;
// null when one chooses none.
function chosen(scenarios, names) {
  const fits = (name) => ({ name: full }) =>
    full === name || full.startsWith(`${name}-`);
  if (names.some((name) => !scenarios.some(fits(name)))) return null;
  return scenarios.filter(
    (scenario) => names.some((name) => fits(name)(scenario)));
}

module.exports = { QUICK_SCENARIOS, chosen, fullScenarios };
