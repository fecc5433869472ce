# The simulator and its race server. How to use it: docs/guide/container.md
FROM python:3.11-slim AS build
WORKDIR /source
COPY . .
# Tests of other packages and compiled Python are a fifth of what is installed; kernels are compiled for any processor
# since 2013, so that a container has nothing to compile when it starts, and no compiler.
RUN python -m venv /opt/donkeysim \
    && /opt/donkeysim/bin/python -m pip install --no-compile --no-cache-dir --constraint constraints.txt . ziglang \
    && /opt/donkeysim/bin/python -B -m supply.kernels \
    && /opt/donkeysim/bin/python -B -m pip uninstall --yes numba llvmlite ziglang pip setuptools \
    && find /opt/donkeysim -type d \( -name tests -o -name __pycache__ -o -name .kernels \) -prune -exec rm -r {} +

FROM python:3.11-slim
COPY --from=build /opt/donkeysim /opt/donkeysim
COPY container/health.py /opt/health.py
RUN useradd --uid 1000 --home-dir /data --create-home donkey
USER donkey
WORKDIR /data
VOLUME /data
ENV PATH=/opt/donkeysim/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/data
EXPOSE 9091 9093
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "/opt/health.py"]
CMD ["donkey_sim", "--host", "0.0.0.0", "--scene", "generated_track", "--pace-car"]
