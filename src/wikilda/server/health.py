"""Whether the server lives, whether it is warm, and its numbers."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import JSONResponse, PlainTextResponse, Response

from wikilda.server.errors import Problem
from wikilda.server.schemas import HealthAnswer
from wikilda.server.service import Service, service_of

router = APIRouter(tags=["operation"])
_Service = Annotated[Service, Depends(service_of)]


@router.get(
    "/health", response_model=HealthAnswer, responses={503: {"model": HealthAnswer}}, summary="Whether it can link"
)
async def health(service: _Service) -> Response:
    """`ready` once the model is open and its kernels are loaded; 503 and `warming` before."""
    if service.ready:
        return JSONResponse({"status": "ready"})
    return JSONResponse({"status": "warming"}, 503, {"Retry-After": "1"})


@router.get("/health/live", response_model=HealthAnswer, summary="Whether it lives")
async def live() -> Response:
    """Always `live`."""
    return JSONResponse({"status": "live"})


@router.get("/metrics", response_class=PlainTextResponse, summary="Numbers for Prometheus")
async def metrics(service: _Service) -> Response:
    """Answers, times and what has been linked, over all processes."""
    if not service.settings.metrics:
        raise Problem(404, "not_found", "This server has no metrics: it was started with --set metrics=false.")
    return Response(service.metrics.text(ready=service.ready), media_type="text/plain; version=0.0.4; charset=utf-8")
