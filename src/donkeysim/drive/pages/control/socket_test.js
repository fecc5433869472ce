// Tries the WebSocket: random throttle, hundreds of times a second.

const BURST = 10; // messages
const PAUSE_MS = 20;
const LARGEST_QUEUE = 4096; // bytes that wait in this browser
const button = document.getElementById("start");
const count = document.getElementById("count");
const socket = new WebSocket(`${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/wsDrive`);

let isRunning = false;
let sent = 0;
let began = 0;

socket.onopen = () => { count.textContent = "connected"; };
socket.onclose = () => { count.textContent = "not connected"; isRunning = false; };
button.addEventListener("click", () => {
  if (socket.readyState !== WebSocket.OPEN) return;
  isRunning = !isRunning;
  button.textContent = isRunning ? "Stop" : "Start";
  [sent, began] = [0, performance.now()];
  if (isRunning) flood();
  else socket.send(JSON.stringify({ throttle: 0 }));
});

function flood() {
  if (!isRunning) return;
  for (let index = 0; index < BURST && socket.bufferedAmount < LARGEST_QUEUE; index += 1) {
    socket.send(JSON.stringify({ angle: 0, throttle: Math.random() }));
    sent += 1;
  }
  count.textContent = `${Math.round(sent / ((performance.now() - began) / 1000 + 0.001))} messages/s`;
  setTimeout(flood, PAUSE_MS);
}
